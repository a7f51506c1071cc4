// SPDX-License-Identifier: GPL-2.0
/* Enables the loopback interface without ip(8). It is linked statically, so it runs in any root. */
#include <err.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int main(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		err(1, "the loopback interface");
	return 0;
}
