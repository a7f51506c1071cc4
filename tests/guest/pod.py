#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Prints the objects of config/kubernetes/daemonset.yaml as JSON, one in a line, for the guest, which has no parser of
YAML.

  pod.py FILE
"""
import json
import sys

import yaml

with open(sys.argv[1]) as file:
    for one in yaml.safe_load_all(file):
        print(json.dumps(one))
