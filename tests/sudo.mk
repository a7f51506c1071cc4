# Under sudo, all files below build/ would belong to root, and the caller's next make could not replace them. Therefore
# make only calls itself there. At the end it gives build/ to the caller, also if the build failed or was interrupted.
HAND_OVER = if [ -n "$$SUDO_UID" ] && [ -e $(BUILD) ] && [ "$$(id -u)" = 0 ]; then \
	chown -Rh "$$SUDO_UID:$${SUDO_GID:-$$SUDO_UID}" $(BUILD); fi

ifeq ($(if $(SUDO_UID),$(if $(HANDED_OVER),,$(shell id -u))),0)
CALLS_ITSELF = yes
.PHONY: $(MAKECMDGOALS) hand-over
$(or $(MAKECMDGOALS),all): hand-over ;

hand-over:
	@trap : INT; HANDED_OVER=yes $(MAKE) --no-print-directory $(MAKECMDGOALS); status=$$?; $(HAND_OVER); exit $$status
endif
