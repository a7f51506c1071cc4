# What `make install` installs: FILE:PLACE, with PLACE below PREFIX. Files below sbin, bin and lib/pebsd are programs.
SHARE_DOC = share/doc/pebsd
SYSTEM = lib/systemd/system
# These contain the paths of programs, which PREFIX changes.
NAMES_PROGRAMS = units/pebsd.service:$(SYSTEM)/pebsd.service units/pebsd-opener.service:$(SYSTEM)/pebsd-opener.service \
	units/pebsd-symbols.service:$(SYSTEM)/pebsd-symbols.service units/pebsd-alert@.service:$(SYSTEM)/pebsd-alert@.service \
	units/mixed-fleet.conf:$(SHARE_DOC)/mixed-fleet.conf units/symbols-debuginfod.conf:$(SHARE_DOC)/symbols-debuginfod.conf
MANUALS = $(wildcard daemon/man/*.[1-8])
INSTALLED = $(OUT)/pebsd:sbin/pebsd $(OUT)/pebsctl:bin/pebsctl $(OUT)/pebsd-opener:lib/pebsd/pebsd-opener \
	$(NAMES_PROGRAMS) \
	$(foreach unit,pebsd pebsd-opener pebsd-symbols,units/$(unit).socket:$(SYSTEM)/$(unit).socket) \
	units/pebsd.polkit.rules:share/polkit-1/rules.d/pebsd.rules units/pebsd.catalog:lib/systemd/catalog/pebsd.catalog \
	units/pebsd.sysusers.conf:lib/sysusers.d/pebsd.conf LICENSE:$(SHARE_DOC)/LICENSE \
	$(foreach file,$(wildcard config/grafana/* config/kubernetes/*.* config/kubernetes/*/* config/opentelemetry/* \
		config/prometheus/*),$(file):$(SHARE_DOC)/$(file:config/%=%)) \
	$(foreach page,$(MANUALS),$(page):share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))) \
	$(foreach program,pebsd pebsctl,config/completion/$(program).bash:share/bash-completion/completions/$(program) \
		config/completion/$(program).fish:share/fish/vendor_completions.d/$(program).fish)
# Debian 12's own tools look for units elsewhere: units/packaging/debian/rules.
UNIT_DIRECTORY = $(DESTDIR)$(PREFIX)/$(SYSTEM)
# The directory for completions of other packages. Debian's zsh has a different one.
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
ZSH_INSTALLED = $(addprefix $(DESTDIR)$(ZSH_COMPLETIONS)/,_pebsd _pebsctl)
CONFIG_FILE = $(DESTDIR)/etc/pebsd/pebsd.conf
# A packager may set another INSTALL, without -D.
INSTALL = install

file_of = $(firstword $(subst :, ,$(1)))
below_prefix = $(lastword $(subst :, ,$(1)))
place_of = $(patsubst $(DESTDIR)$(PREFIX)/$(SYSTEM)/%,$(UNIT_DIRECTORY)/%,$(DESTDIR)$(PREFIX)/$(below_prefix))
mode_of = $(if $(filter sbin/% bin/% lib/pebsd/%,$(below_prefix)),755,644)
# One command for each file. The empty line ends it.
define install_one
$(quiet)$(INSTALL) -D -m $(call mode_of,$(1)) $(call file_of,$(1)) $(call place_of,$(1))

endef
# journalctl reads the catalog from a database. Without a database nothing is updated.
UPDATE_CATALOG = @[ -n "$(DESTDIR)" ] || ! [ -e /var/lib/systemd/catalog/database ] || journalctl --update-catalog
