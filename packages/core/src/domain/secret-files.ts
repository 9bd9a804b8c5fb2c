import { foldedPath } from './folded-path.ts';
import { NameSet } from './name-set.ts';

/** Files that hold secrets by what they are. In names, `*` stands for any characters of one name. */
interface SecretFiles {
  /** What such a file holds, without an article; said to a person behind the path. */
  readonly holds: string;
  readonly names?: string;
  /** Ends of paths: directories and a name. */
  readonly paths?: string;
}

/**
 * By name, in lower case. The names are those under which the programs themselves keep secrets, as their manuals have it: OpenSSH, GnuPG,
 * OpenSSL, git, curl, npm, PyPI, the clients of the large clouds, Kubernetes, Docker, Terraform and KeePass.
 */
const NAMED: readonly SecretFiles[] = [
  { holds: 'variables that often are secrets', names: '.env .env.* *.env .envrc .envrc.* .dev.vars .dev.vars.*' },
  {
    holds: 'private key',
    names: `id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk *.pem *.key *.p12 *.pfx *.pkcs12 *.ppk *.jks *.keystore
*.p8 secring.* *.agekey`,
    paths: '.ssh/identity .gnupg/private-keys-v1.d/*',
  },
  { holds: 'passwords', names: '.netrc _netrc .pgpass .my.cnf .htpasswd *.kdbx *.kdb *.psafe3 *.ovpn' },
  { holds: 'credentials of git', names: '.git-credentials', paths: 'git/credentials gh/hosts.yml glab-cli/config.yml' },
  {
    holds: 'credentials of a package registry',
    names: '.pypirc',
    paths: '.gem/credentials .cargo/credentials .cargo/credentials.toml .composer/auth.json',
  },
  {
    holds: 'credentials of a cloud',
    names: `credentials credentials.json credentials.csv application_default_credentials.json service-account*.json service_account*.json
.boto .s3cfg .vault-token .terraformrc terraform.rc credentials.tfrc.json *.tfstate *.tfstate.backup kubeconfig kubeconfig.* *.kubeconfig
accesskeys.csv`,
    paths: `.aws/credentials .aws/config .aws/sso/cache/* .aws/cli/cache/* .azure/* .kube/config .docker/config.json gcloud/credentials.db
gcloud/access_tokens.db gcloud/legacy_credentials/* doctl/config.yaml`,
  },
  {
    holds: 'secrets',
    names:
      'secrets.yml secrets.yaml secrets.json secrets.toml secret.yml secret.yaml secret.json secret.toml secrets.env master.key',
  },
];
/** All the names: what nobody sees who stands on the working tree itself. In lower case; `*` stands for any characters. */
export const SECRET_FILE_NAMES: readonly string[] = NAMED.flatMap(({ names = '' }) =>
  names.split(/\s+/).filter(Boolean),
);

/** Files of such names that are made to be read by everybody. */
const TEMPLATES = new NameSet(
  ['example', 'sample', 'template', 'dist', 'tmpl', 'defaults'].flatMap((word) => [
    `*.${word}`,
    `*.${word}.*`,
    `${word}.*`,
  ]),
);

/**
 * By what stands in a file: the forms that their makers document, so that such texts can be told from others.
 *
 * Private keys: RFC 7468, 10 and 11; OpenSSH's PROTOCOL.key; RFC 9580, 6.2 (PGP); PuTTY's manual, C; age's README. Tokens: "GitHub's token
 * formats" (GitHub's blog, April 2021); GitLab's "Token overview"; "IAM identifiers" of AWS; Slack's "Token types"; npm's blog of September
 * 2021 ("new access token format"); PyPI's help on API tokens; "API keys" of Google, Stripe, OpenAI, Anthropic, SendGrid, Hugging Face,
 * DigitalOcean and Docker; `.npmrc` and `.yarnrc.yml` as npm and Yarn document them.
 */
const WRITTEN: readonly (readonly [holds: string, pattern: RegExp])[] = [
  ['private key', /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,80}/g],
  ['private key', /PuTTY-User-Key-File-\d:[\s\S]{0,80}/g],
  ['private key', /AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}/g],
  ['token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{82})/g],
  ['token of GitLab', /\bgl(?:pat|dt|rt|ptt|cbt|soat|agent|imt|ft)-[A-Za-z0-9_=-]{20,300}/g],
  ['key of AWS', /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g],
  ['token of Slack', /\b(?:xox[abeprs]-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{10,250})/g],
  ['token of npm', /\bnpm_[A-Za-z0-9]{36}\b/g],
  ['token of PyPI', /\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,500}/g],
  ['key of Google', /\bAIza[A-Za-z0-9_-]{35}/g],
  ['key of Stripe', /\b(?:sk|rk)_live_[A-Za-z0-9]{16,250}/g],
  ['key of Anthropic', /\bsk-ant-[a-z]+[0-9]{2}-[A-Za-z0-9_-]{80,200}/g],
  ['key of OpenAI', /\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,250}|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}/g],
  ['key of SendGrid', /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g],
  ['token of Hugging Face', /\bhf_[A-Za-z]{34}\b/g],
  ['token of DigitalOcean', /\bdo[opr]_v1_[a-f0-9]{64}/g],
  ['token of Docker', /\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{27,64}/g],
];
/** In files of package managers alone, whose keys are these. A value that names a variable is none. */
const REGISTRY_NAMES = new NameSet(['.npmrc', 'npmrc', '.yarnrc', '.yarnrc.yml']);
const REGISTRY: readonly (typeof WRITTEN)[number][] = [
  [
    'token of a package registry',
    /(?:_authToken|_auth|_password|npmAuthToken|npmAuthIdent)"?\s*[=:]\s*"?(?![\s"]*\$\{)[^\s"$]{4,}/g,
  ],
];

/** How much of a file is looked at: its beginning, in bytes. */
export const SECRET_LOOK_BYTES = 128 * 1024;
/** More texts of one kind tell nothing new. */
const MAX_TEXTS = 64;

/** A text of a file that looks like a secret. */
export interface SecretText {
  /** What it is, without an article: `token of GitHub`. */
  readonly holds: string;
  /** The text itself, cut after 500 characters: to compare with others, never to show. */
  readonly text: string;
}

interface Matcher {
  readonly holds: string;
  readonly names: NameSet;
  readonly paths: readonly { readonly above: string; readonly name: NameSet }[];
}

const words = (text = '') => text.split(/\s+/).filter(Boolean);
const MATCHERS: readonly Matcher[] = NAMED.map(({ holds, names, paths }) => ({
  holds,
  names: new NameSet(words(names)),
  paths: words(paths).map((path) => {
    const cut = path.lastIndexOf('/');
    return { above: `/${path.slice(0, cut)}`, name: new NameSet([path.slice(cut + 1)]) };
  }),
}));

/**
 * What a file of that path holds, if it is a secret by its name: `private key`. Names are compared as file systems that fold them do.
 * Undefined for others, and for examples of such files.
 */
export function secretByName(path: string): string | undefined {
  const folded = foldedPath(path);
  const cut = folded.lastIndexOf('/');
  const name = folded.slice(cut + 1);
  if (TEMPLATES.has(name)) return undefined;
  const above = `/${folded.slice(0, Math.max(cut, 0))}`;
  return MATCHERS.find(
    ({ names, paths }) => names.has(name) || paths.some((one) => above.endsWith(one.above) && one.name.has(name)),
  )?.holds;
}

/**
 * The texts of a file that look like secrets, whatever its name. It sees known forms alone, and no secret that looks like any other text.
 *
 * @param start the beginning of the file: what lies behind {@link SECRET_LOOK_BYTES} is not looked at
 */
export function secretTexts(path: string, start: Uint8Array): readonly SecretText[] {
  const text = new TextDecoder('latin1').decode(start.subarray(0, SECRET_LOOK_BYTES));
  const name = foldedPath(path.slice(path.lastIndexOf('/') + 1));
  const forms = REGISTRY_NAMES.has(name) ? [...WRITTEN, ...REGISTRY] : WRITTEN;
  return forms.flatMap(([holds, pattern]) =>
    [...text.matchAll(pattern)].slice(0, MAX_TEXTS).map(([found]) => ({ holds, text: found.slice(0, 500) })),
  );
}
