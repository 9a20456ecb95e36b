#!/bin/sh
# debian_test.sh BUILD WORK: makes the Debian package of a build and installs it on a machine that has nothing of the
# build's: a fresh root of the same Debian, from the mirror that this machine uses.
set -eu
build=$1 work=$2 root=$2/root

skip() { echo "Skipped: $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "a fresh root is made by root only"
command -v debootstrap >/dev/null || skip "debootstrap was not found: install debootstrap"
command -v dpkg-shlibdeps >/dev/null || skip "dpkg-shlibdeps was not found: install dpkg-dev"
. /etc/os-release
mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$VERSION_CODENAME //p" | head -n 1)
[ -n "$mirror" ] || skip "this machine has no mirror of $VERSION_CODENAME"

rm -rf "$work"
mkdir -p "$work"
debootstrap --variant=minbase --download-only "$VERSION_CODENAME" "$root" "$mirror" >"$work/debootstrap.log" 2>&1 ||
  skip "the mirror $mirror cannot be reached: $(tail -n 1 "$work/debootstrap.log")"
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >>"$work/debootstrap.log" 2>&1 ||
  { tail "$work/debootstrap.log"; exit 1; }
# The same proxy, if any.
apt-config dump | grep -E '^Acquire::https?::' >"$root/etc/apt/apt.conf.d/90mirror" || true

(cd "$build" && cpack -G DEB -B "$work" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; exit 1; }
cp "$work"/apart_*.deb "$root/tmp/"
inside() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
inside sh -c 'apt-get -q update && apt-get -q -y install --no-install-recommends /tmp/apart_*.deb' >"$work/install.log" 2>&1 ||
  { tail -n 20 "$work/install.log"; exit 1; }

inside apart --version
inside sh -ec 'cd /root
  apart new scene.json --body brick --time 0.06
  apart run scene.json -q -o run
  apart verify run
  apart render run -o a.png --size 64x48
  test -s a.png
  apart view --help >view'
for file in /usr/bin/apart /man1/apart.1.gz /bash-completion/completions/apart /zsh/vendor-completions/_apart /fish/vendor_completions.d/apart.fish; do
  inside dpkg -L apart | grep -q "$file\$" || { echo "no $file in the package"; exit 1; }
done
inside apt-get -q -y purge apart >>"$work/install.log" 2>&1
! inside sh -c 'command -v apart'
rm -rf "$root"
