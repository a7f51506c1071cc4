// SPDX-License-Identifier: GPL-2.0
/*
 * Names in files of the kubelet and of container runtimes: forms that they write, and forms that an attacker
 * might.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "containers/container_state.h"

#define ID  "3f4a1b9c0d2e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define UID "12fdc709-933e-41d0-917f-cd84de9afa94"

static struct container_labels labels;

static void expect(const char *namespace, const char *pod, const char *container)
{
	cr_expect_str_eq(labels.text[CONTAINER_LABEL_NAMESPACE], namespace);
	cr_expect_str_eq(labels.text[CONTAINER_LABEL_POD], pod);
	cr_expect_str_eq(labels.text[CONTAINER_LABEL_CONTAINER], container);
	memset(&labels, 0, sizeof(labels));
}

Test(container_state, names_of_pod_directories_are_parsed)
{
	cr_expect(container_state_pod_directory("shop_cart-0_" UID, UID, &labels));
	expect("shop", "cart-0", "");
	cr_expect(container_state_pod_directory(
		"kube-system_etcd-node.example_ec26a31a7a2ddcb1c4ab6ad5bfa3ba7a",
		"ec26a31a7a2ddcb1c4ab6ad5bfa3ba7a", &labels));
	expect("kube-system", "etcd-node.example", "");
	cr_expect_not(container_state_pod_directory("shop_cart-0_" UID, "12fdc709", &labels));
	cr_expect_not(container_state_pod_directory(UID, UID, &labels));
	cr_expect_not(container_state_pod_directory("cart_" UID, UID, &labels));
	cr_expect_not(container_state_pod_directory("__" UID, UID, &labels));
	cr_expect_not(container_state_pod_directory("a_b_c_" UID, UID, &labels));
	cr_expect_not(container_state_pod_directory("a\n_b_" UID, UID, &labels));
	cr_expect_not(container_state_pod_directory("", UID, &labels));
	expect("", "", "");
}

Test(container_state, names_of_log_links_are_parsed)
{
	cr_expect(container_state_log_link("cart-0_shop_app-" ID ".log", ID, &labels));
	expect("shop", "cart-0", "app");
	cr_expect(container_state_log_link("cart-0_shop_side-car-" ID ".log", ID, &labels));
	expect("shop", "cart-0", "side-car");
	cr_expect_not(container_state_log_link("cart-0_shop_app-" ID, ID, &labels));
	cr_expect_not(container_state_log_link("cart-0_shop_app-" ID ".txt", ID, &labels));
	/* A name with a cut id, which keeps a file name within 255 bytes. */
	cr_expect_not(container_state_log_link("cart-0_shop_app-3f4a1b9c0d2e5f.log", ID, &labels));
	cr_expect_not(container_state_log_link("-" ID ".log", ID, &labels));
	cr_expect_not(container_state_log_link("shop_app-" ID ".log", ID, &labels));
	cr_expect_not(container_state_log_link("cart-0_shop_-" ID ".log", ID, &labels));
	cr_expect_not(container_state_log_link(".log", ID, &labels));
	expect("", "", "");
}

#define DOCKER(text) container_state_docker(text, strlen(text), &labels)

Test(container_state, the_state_file_of_docker_is_parsed)
{
	cr_expect(DOCKER("{\"StreamConfig\":{},\"ID\":\"" ID "\",\"Name\":\"/web\",\"Config\":{\"Env\":"
			 "[\"PASSWORD=x\"],\"Labels\":{\"maintainer\":\"somebody\"}}}"));
	expect("", "", "web");
	/* Written by cri-dockerd. */
	cr_expect(DOCKER("{\"Name\":\"/k8s_app_cart-0_shop_" UID "_0\",\"Config\":{\"Labels\":{"
			 "\"io.kubernetes.container.name\":\"app\",\"io.kubernetes.pod.name\":\"cart-0\","
			 "\"io.kubernetes.pod.namespace\":\"shop\"}}}"));
	expect("shop", "cart-0", "app");
	cr_expect_not(DOCKER(""));
	cr_expect_not(DOCKER("null"));
	cr_expect_not(DOCKER("[]"));
	cr_expect_not(DOCKER("{\"Name\":7}"));
	cr_expect_not(DOCKER("{\"Name\":\"/\"}"));
	cr_expect_not(DOCKER("{\"Name\":\"/we\\u0000b\"}"));
	cr_expect_not(DOCKER("{\"Name\":\"/a b\"}"));
	cr_expect_not(DOCKER("{\"Name\":\"/web\"} {"));
	cr_expect_not(DOCKER("{\"Name\":\"/web\""));
	cr_expect_not(DOCKER("{\"Config\":[{\"Labels\":\"nerdctl/name\"}]}"));
	expect("", "", "");
}

#define BUNDLE(text) container_state_bundle(text, strlen(text), &labels)

Test(container_state, annotations_of_bundles_are_parsed)
{
	cr_expect(BUNDLE(
		"{\"ociVersion\":\"1.1.0\",\"annotations\":{\"io.kubernetes.cri.container-name\":\"app\","
		"\"io.kubernetes.cri.container-type\":\"container\",\"io.kubernetes.cri.sandbox-name\":"
		"\"cart-0\",\"io.kubernetes.cri.sandbox-namespace\":\"shop\"}}"));
	expect("shop", "cart-0", "app");
	/* A sandbox does not have a container name. */
	cr_expect(BUNDLE("{\"annotations\":{\"io.kubernetes.cri.container-type\":\"sandbox\","
			 "\"io.kubernetes.cri.sandbox-name\":\"cart-0\","
			 "\"io.kubernetes.cri.sandbox-namespace\":\"shop\"}}"));
	expect("shop", "cart-0", "");
	cr_expect(BUNDLE("{\"annotations\":{\"io.kubernetes.container.name\":\"app\","
			 "\"io.kubernetes.pod.name\":\"cart-0\",\"io.kubernetes.pod.namespace\":\"shop\"}}"));
	expect("shop", "cart-0", "app");
	cr_expect(BUNDLE("{\"annotations\":{\"nerdctl/name\":\"web\",\"nerdctl/namespace\":\"default\"}}"));
	expect("", "", "web");
	cr_expect_not(BUNDLE("{\"annotations\":{}}"));
	cr_expect_not(BUNDLE("{}"));
	expect("", "", "");
}

Test(container_state, deeply_nested_files_are_refused)
{
	char text[4096] = "";

	memset(text, '[', sizeof(text) - 1);
	cr_expect_not(BUNDLE(text));
	cr_expect_not(container_state_storage(text, strlen(text), ID, &labels));
}

#define STORAGE(text) container_state_storage(text, strlen(text), ID, &labels)

Test(container_state, lists_of_containers_are_parsed)
{
	cr_expect(STORAGE("[{\"id\":\"0\",\"names\":[\"other\"]},{\"id\":\"" ID
			  "\",\"names\":[\"web\"],\"image\":\"i\",\"metadata\":\"{}\"}]"));
	expect("", "", "web");
	cr_expect_not(STORAGE("[{\"id\":\"0\",\"names\":[\"other\"]}]"));
	cr_expect_not(STORAGE("[{\"id\":\"" ID "\"}]"));
	cr_expect_not(STORAGE("[{\"id\":\"" ID "\",\"names\":[]}]"));
	cr_expect_not(STORAGE("[{\"id\":\"" ID "\",\"names\":[7]}]"));
	cr_expect_not(STORAGE("[{\"id\":\"" ID "\",\"names\":[\"a\\u0000b\"]}]"));
	cr_expect_not(STORAGE("[null,3,\"" ID "\",{}]"));
	cr_expect_not(STORAGE("{\"id\":\"" ID "\",\"names\":[\"web\"]}"));
	expect("", "", "");
}

Test(container_state, names_of_containers_are_checked)
{
	char longest[255];

	memset(longest, 'a', sizeof(longest));
	longest[253] = '\0';
	cr_expect(container_state_is_name("a"));
	cr_expect(container_state_is_name("A_1.b-"));
	cr_expect(container_state_is_name(longest));
	longest[253] = 'a';
	longest[254] = '\0';
	cr_expect_not(container_state_is_name(longest));
	cr_expect_not(container_state_is_name(""));
	cr_expect_not(container_state_is_name("-a"));
	cr_expect_not(container_state_is_name("../a"));
	cr_expect_not(container_state_is_name("a\"b"));
	cr_expect_not(container_state_is_name("a\xc3\xa4"));
}
