// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include <string.h>

#include "base/default_socket.h"

Test(default_socket, the_socket_of_a_user_is_in_the_runtime_directory)
{
	char own[DEFAULT_SOCKET_MAX];

	cr_expect_str_eq(default_socket_below("/run/user/1000", own), "/run/user/1000/pebsd/control.sock");
}

Test(default_socket, without_a_runtime_directory_the_socket_is_that_of_the_service)
{
	char own[DEFAULT_SOCKET_MAX], runtime[DEFAULT_SOCKET_MAX] = "/";

	cr_expect_str_eq(default_socket_below(NULL, own), "/run/pebsd/control.sock");
	cr_expect_str_eq(default_socket_below("", own), "/run/pebsd/control.sock");
	cr_expect_str_eq(default_socket_below("run", own), "/run/pebsd/control.sock");
	memset(runtime + 1, 'x', sizeof(runtime) - sizeof("/pebsd/control.sock") - 1);
	cr_expect_eq(strlen(default_socket_below(runtime, own)), DEFAULT_SOCKET_MAX - 1);
	strcat(runtime, "x");
	cr_expect_str_eq(default_socket_below(runtime, own), "/run/pebsd/control.sock");
}
