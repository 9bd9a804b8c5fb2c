#!/bin/sh
# Runs inside the machine, by litterbox-command.service: runs the command that came as a disk, tells its code, turns the machine off.
stty -F /dev/ttyS1 raw
exec >/dev/ttyS1 2>&1
chmod 0755 /opt/litterbox-checkout
cd /opt/litterbox-checkout || exit 1
PATH=/opt/litterbox-checkout/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=/root
LANG=C.UTF-8
NO_COLOR=1
TERM=dumb
export PATH HOME LANG NO_COLOR TERM
sh /dev/disk/by-id/virtio-command </dev/null
code=$?
stty -F /dev/ttyS2 raw
echo $code >/dev/ttyS2
systemctl poweroff --force --force
