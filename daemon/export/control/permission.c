// SPDX-License-Identifier: GPL-2.0
#include "export/control/permission.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

void permission_resolve(const char *name, struct permission *ret)
{
	const struct passwd *user;
	const struct group *group;

	*ret = (struct permission){.has_own = ret->has_own, .own = ret->own};
	/* The user root has every permission already, and a group of this name gets none. */
	if (strcmp(name, "root") == 0)
		return;
	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	user = getpwnam(name);
	if (user) {
		ret->has_user = true;
		ret->user = user->pw_uid;
	}
	group = getgrnam(name);
	if (group) {
		ret->has_group = true;
		ret->group = group->gr_gid;
	}
	if (!user && !group)
		(void)log_warning(
			0,
			"detail = %s in [control]: there is no user or group with this name, so only root may pause, zoom, and read hot tables and profiles; create one, then reload",
			name);
}

bool permission_grants(const struct permission *permission, enum permission_level level,
		       const struct permission_peer *peer)
{
	if (peer->credentials->uid == 0 || (permission->has_own && peer->credentials->uid == permission->own))
		return true;
	if (level != PERMISSION_DETAIL)
		return level == PERMISSION_ASK;
	if (permission->has_user && peer->credentials->uid == permission->user)
		return true;
	if (!permission->has_group)
		return false;
	if (peer->credentials->gid == permission->group)
		return true;
	for (size_t i = 0; i < peer->n_groups; i++)
		if (peer->groups[i] == permission->group)
			return true;
	return false;
}

char *permission_text(const struct permission *permission, enum permission_level level)
{
	bool detail = level == PERMISSION_DETAIL;
	bool user = detail && permission->has_user, group = detail && permission->has_group;
	const char *name = permission->name;
	const char *own = permission->has_own ? ", the user who runs pebsd" : "";
	char *text;
	int length;

	if (user && group)
		length = asprintf(&text, "root%s, the user %s and the group %s", own, name, name);
	else if (user || group)
		length = asprintf(&text, "root%s and the %s %s", own, user ? "user" : "group", name);
	else if (permission->has_own)
		length = asprintf(&text, "root and the user who runs pebsd");
	else
		length = asprintf(&text, "root alone%s",
				  detail ? " (`detail` in [control] can permit a user or group)" : "");
	return length < 0 ? NULL : text;
}
