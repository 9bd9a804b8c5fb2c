#!/bin/sh
# Runs inside the machine, as root: serve-ssh.sh HOST_KEY AUTHORIZED_KEY, both in base64. Serves SSH to root and to the ordinary user.
set -eu
for interface in /sys/class/net/*; do
  name=${interface##*/}
  [ "$name" = lo ] || ip link set "$name" up
  [ "$name" = lo ] || ip address add 10.0.2.15/24 dev "$name"
done
install -d -m 0755 /run/sshd /run/litterbox-ssh
echo "$1" | base64 -d >/run/litterbox-ssh/host-key
echo "$2" | base64 -d >/run/litterbox-ssh/keys
chmod 0600 /run/litterbox-ssh/host-key
cat >/run/litterbox-ssh/config <<END
HostKey /run/litterbox-ssh/host-key
AuthorizedKeysFile /run/litterbox-ssh/keys
StrictModes no
UsePAM yes
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
END
exec /usr/sbin/sshd -D -e -f /run/litterbox-ssh/config
