# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For kernel.sh, kernels.sh and guest.sh, after common.sh: kernels that were unpacked.

# kernel_place RELEASE: prints the place in the cache for a kernel that kernels.sh fetches, by its `uname -r`.
kernel_place() {
	echo "$GUEST_CACHE/release-$1"
}

# decompress FILE: prints the kernel in it. Documentation/arch/x86/boot.rst describes the fields: the setup sectors and
# payload_offset bytes are followed by payload_length bytes. The last four of these are the kernel's size.
decompress() {
	local sectors offset length magic
	read -r sectors < <(od --address-radix=n --format=u1 --skip-bytes=$((0x1f1)) --read-bytes=1 "$1")
	read -r offset length < <(od --address-radix=n --format=u4 --skip-bytes=$((0x248)) --read-bytes=8 "$1")
	offset=$(((sectors + 1) * 512 + offset))
	magic=$(od --address-radix=n --format=x1 --skip-bytes=$offset --read-bytes=4 "$1")
	tail --bytes=+$((offset + 1)) "$1" | head --bytes=$((length - 4)) | case $magic in
	' 28 b5 2f fd') zstd --decompress --stdout ;;
	' 02 21 4c 18') lz4 --decompress --stdout ;;
	' fd 37 7a 58') xz --decompress --stdout ;;
	*) fail "$1: compressed in a way that is not known here:$magic" ;;
	esac
}
