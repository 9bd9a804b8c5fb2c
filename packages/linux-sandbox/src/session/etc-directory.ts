import { quoted } from '@litterbox/core/provider';
import { ownNames } from '@litterbox/sandbox-kit';

/** What programs of the host read below /etc and what holds no secret. Whatever of it does not exist is left out. */
const SHARED = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'fonts',
  'gai.conf',
  'inputrc',
  'java',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'lsb-release',
  'magic',
  'mime.types',
  'os-release',
  'perl',
  'pki/ca-trust',
  'pki/tls/certs',
  'pki/tls/cert.pem',
  'profile',
  'protocols',
  'rpc',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
];
// One tar for all of them: a `mkdir` and a `cp` for each took 58 processes, a second of the first create on a slow machine.
const SHARED_PATTERNS = [
  'java-*',
  'python3*',
  'maven',
  'gradle',
  'ghc*',
  'php',
  'lua',
  'texmf',
  'emacs',
  'vim',
  'chromium.d',
  'dpkg/origins',
];

/** The sandbox's own besides {@link ownNames}, and nothing of the host's. */
const OWN: Readonly<Record<string, string>> = {
  hostname: 'sandbox\n',
  'nsswitch.conf':
    'passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\nprotocols: files\nservices: files\n',
  'resolv.conf': '',
  shells: '/bin/sh\n/bin/bash\n',
};

/** Patterns of the paths whose change times are in the name of the directory. */
export const ETC_SOURCES: readonly string[] = [...SHARED, ...SHARED_PATTERNS].map((name) => `/etc/${name}`);

/** Beginning of the absolute path of the directory; the rest is a number that its sources make. */
export const etcPrefix = (parent: string, { uid }: { readonly uid: number }): string => `${parent}/etc-${uid}-`;

/**
 * Shell text that prints the path of a directory below `parent` made of {@link SHARED} and {@link OWN}, and makes it first when the
 * host's files have changed since (their times are its name). One read-only bind of it costs a tenth of a bind per file.
 *
 * @param user who programs are inside, see {@link ownNames}
 */
export function etcDirectoryScript(parent: string, user: { readonly uid: number; readonly gid: number }): string {
  const sources = ETC_SOURCES.join(' ');
  const own = Object.entries({ ...ownNames(user), ...OWN })
    .map(([name, text]) => `rm -rf "$t/${name}"; printf '%s' ${quoted(text)} >"$t/${name}"`)
    .join('\n');
  // Directories of an earlier release, whose files took their modes from who called, began with another number.
  return `cd /
key=1
for time in $(stat -c %Y ${sources} 2>/dev/null); do key=$(( (key * 31 + time) & 0xffffffffffff )); done
etc=${quoted(etcPrefix(parent, user))}$key
if [ ! -d "$etc" ]; then
t="$etc.$$.tmp"
[ -d ${quoted(parent)} ] || ( umask 077; mkdir -p ${quoted(parent)} )
mkdir "$t"
( set --
for s in ${sources}; do [ ! -e "$s" ] || set -- "$@" "\${s#/etc/}"; done
tar -c -f - --no-unquote -C /etc -- "$@" 2>/dev/null | tar -x -p -f - -C "$t" )
${own}
chmod 755 "$t"
mv -T "$t" "$etc" 2>/dev/null || rm -rf "$t"
fi
printf '%s' "$etc"
`;
}
