import { foldedPath } from '../text/folded-path.ts';
import { NameSet } from '../paths/name-set.ts';

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
 * OpenSSL, git, curl, npm, PyPI, the clients of the large clouds, Kubernetes, Docker, Terraform, Ansible, agents, shells and KeePass.
 */
const NAMED: readonly SecretFiles[] = [
  {
    holds: 'variables that often are secrets',
    names:
      '.env .env.* *.env .envrc .envrc.* .dev.vars .dev.vars.* terraform.tfvars terraform.tfvars.json *.auto.tfvars',
    paths: '.env.d/*',
  },
  {
    holds: 'private key',
    names: `id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk *.p12 *.pfx *.pkcs12 *.ppk *.jks *.keystore secring.* *.agekey`,
    paths: '.ssh/identity .gnupg/private-keys-v1.d/* config/credentials/*.key',
  },
  {
    holds: 'passwords',
    names: '.netrc _netrc .pgpass .my.cnf .htpasswd *.kdbx *.kdb *.psafe3 *.ovpn .vault_pass .vault_pass.* .vault-pass',
  },
  { holds: 'credentials of git', names: '.git-credentials', paths: 'git/credentials gh/hosts.yml glab-cli/config.yml' },
  {
    holds: 'credentials of a package registry',
    names: '.pypirc',
    paths:
      '.m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .gem/credentials .cargo/credentials .cargo/credentials.toml .composer/auth.json',
  },
  {
    holds: 'credentials of a cloud',
    names: `credentials.json credentials.csv application_default_credentials.json service-account*.json service_account*.json
.boto .s3cfg .vault-token .terraformrc terraform.rc credentials.tfrc.json *.tfstate *.tfstate.backup kubeconfig kubeconfig.* *.kubeconfig
accesskeys.csv local.settings.json .dockercfg`,
    paths: `.aws/credentials .aws/config .aws/sso/cache/* .aws/cli/cache/* .azure/* .kube/config .docker/config.json gcloud/credentials.db
gcloud/access_tokens.db gcloud/legacy_credentials/* doctl/config.yaml`,
  },
  {
    holds: 'settings or a login of an agent',
    names: '.mcp.json',
    paths: '.claude/settings.local.json .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json',
  },
  {
    holds: 'commands that were typed',
    names: '.bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history .irb_history',
  },
  {
    holds: 'secrets',
    names:
      'secrets.yml secrets.yaml secrets.json secrets.toml secret.yml secret.yaml secret.json secret.toml secrets.env master.key',
  },
];
/** Names that only files of secrets have, and directories of programs too: a library in `node_modules` would be without its parts. */
const NAMED_FILES: readonly SecretFiles[] = [{ holds: 'credentials of a cloud', names: 'credentials' }];
/** Names of private keys and of what is for everybody, such as a certificate: in the working tree nobody misses either. */
const NAMED_KEYS: readonly SecretFiles[] = [{ holds: 'private key', names: '*.pem *.key *.p8' }];
/** Nobody sees these who stands on the working tree itself, because a look into each would come too late. */
const NAMED_PLACES = '.npmrc .aws .azure .gnupg .kube .ssh';

const words = (text = '') => text.split(/\s+/).filter(Boolean);
const pattern = (glob: string) => glob.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
/** What editors and people put behind the name of a copy. */
const COPIES = '(~|#|\\.(bak|backup|old|orig|save|tmp|sw[a-p]))*';
/** What a whole path ends with, and a name in it; editors put a dot or `#` before the name of what they are at work on. */
const endsWith = (files: readonly SecretFiles[]): string => {
  const names = files.flatMap((one) => words(one.names)).map(pattern);
  const paths = files.flatMap((one) => words(one.paths)).map(pattern);
  return `(${[...(names.length > 0 ? [`[.#]*(${names.join('|')})`] : []), ...paths].join('|')})${COPIES}`;
};

/** Files of such names that are made to be read by everybody. */
const TEMPLATE = '([^/]*\\.)?(example|sample|template|dist|tmpl|defaults)(\\.[^/]*)?~*';

/**
 * The names of secrets for programs that look through directories themselves: extended regular expressions of POSIX, without regard to
 * case, that a whole path below a directory has to match, such as `a/.env`.
 */
export const SECRET_PATTERNS = {
  /** Files and directories. */
  hidden: `(.*/)?(${[endsWith(NAMED), ...words(NAMED_PLACES).map(pattern)].join('|')})`,
  /** Of those and the following, what is for everybody. */
  shown: `(.*/)?${TEMPLATE}`,
  hiddenFiles: `(.*/)?${endsWith(NAMED_FILES)}`,
  /** Files that are hidden when they hold {@link SECRET_PATTERNS.keyText}. */
  keys: `(.*/)?${endsWith(NAMED_KEYS)}`,
  keyText: 'PRIVATE KEY',
  /** Names that need no look at what is there. */
  fixedNames: [...NAMED.flatMap(({ names }) => words(names)), ...words(NAMED_PLACES)].filter(
    (name) => !name.includes('*'),
  ),
} as const;

/**
 * By what stands in a file: the forms that their makers document, so that such texts can be told from others.
 *
 * Private keys: RFC 7468, 10 and 11; OpenSSH's PROTOCOL.key; RFC 9580, 6.2 (PGP); PuTTY's manual, C; age's README. Tokens: "GitHub's token
 * formats" (GitHub's blog, April 2021); GitLab's "Token overview"; "IAM identifiers" of AWS; Slack's "Token types"; npm's blog of September
 * 2021 ("new access token format"); PyPI's help on API tokens; "API keys" of Google, Stripe, OpenAI, Anthropic, SendGrid, Hugging Face,
 * DigitalOcean and Docker; wg(8) of WireGuard; RFC 6749, 5.1 (`refresh_token`); `.npmrc` and `.yarnrc.yml` as npm and Yarn document them.
 */
const WRITTEN: readonly (readonly [holds: string, pattern: RegExp])[] = [
  ['private key', /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,80}/g],
  ['private key', /PuTTY-User-Key-File-\d:[\s\S]{0,80}/g],
  ['private key', /AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}/g],
  ['private key', /\bPrivateKey[ \t]*=[ \t]*[A-Za-z0-9+/]{43}=/g],
  ['token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{82})/g],
  ['token of GitLab', /\bgl(?:pat|dt|rt|ptt|cbt|soat|agent|imt|ft)-[A-Za-z0-9_=-]{20,300}/g],
  ['key of AWS', /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g],
  [
    'secret key of AWS',
    /aws_secret_access_key["']?\s*[=:]\s*["']?(?![a-z0-9/+]*EXAMPLE)[a-z0-9/+]{40}(?![a-z0-9/+=])/gi,
  ],
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
  ['token that renews a login', /"refresh_?token"\s*:\s*"[^"\s]{16,}"/gi],
];
/** The user, the password and the host of an address. What stands for a password is none, and what is on this machine guards nothing. */
const ADDRESS = /:\/\/([^\s/:@"'`<>]{1,100}):([^\s/:@"'`<>]{3,200})@([a-z0-9.-]{1,253})/gi;
const PLACEHOLDER =
  /[${}%*[\]()]|\.\.\.|^(?:x+|pass|passwd|password|passphrase|pwd|pw|secret|token|user|username|example|changeme|change-me|placeholder|redacted|hunter2|root|admin|test|guest|your[-_].*|my[-_].*)$/i;
const NO_HOST =
  /^(?:localhost|127\.[0-9.]+|host|hostname|server|(?:.+\.)?(?:example|test|invalid|localhost|local))$|(?:^|\.)example\.[a-z]+$/i;

/** In files of package managers alone, whose keys are these. A value that names a variable is none. */
const OWN_FORMS: readonly (readonly [names: NameSet, holds: string, pattern: RegExp])[] = [
  [
    new NameSet(['.npmrc', 'npmrc', '.yarnrc', '.yarnrc.yml']),
    'token of a package registry',
    /(?:_authToken|_auth|_password|npmAuthToken|npmAuthIdent)"?\s*[=:]\s*"?(?![\s"]*\$\{)[^\s"$]{4,}/g,
  ],
  [
    new NameSet(['auth.json']),
    'login',
    /"(?:http-basic|github-oauth|gitlab-oauth|gitlab-token|bitbucket-oauth|OPENAI_API_KEY|access_token|id_token)"\s*:\s*[{"]/g,
  ],
];

/** Files that set variables and options, in which nothing is computed. Of what may hold any text, such as YAML, those of usual names alone. */
const SETTINGS = new NameSet([
  ...words('env env.* environment .environment .flaskenv *.ini *.cfg *.conf *.cnf *.properties'),
  ...words('yml yaml toml json').flatMap((ending) =>
    words('config settings database db application application-* appsettings appsettings.* local').map(
      (name) => `${name}.${ending}`,
    ),
  ),
]);
/** A name that ends as those of secrets do, and a value that is one word. */
const ASSIGNMENT =
  /^[ \t]*(?:[{,-][ \t]*)?(?:export[ \t]+)?["']?([\w.-]{0,64}?(?:password|passwd|passphrase|secret|secret[_-]?key|api[_-]?key|token))["']?[ \t]*[=:][ \t]*(["']?)([^\s"']{4,200})\2[ \t]*[,;}]*(?:[ \t][#;].*)?\r?$/gim;
/** What says that there is no value, or where it is, or that somebody has to think of one. */
const NO_VALUE =
  /^[/.~@!&<|]|:\/\/|^(?:true|false|yes|no|on|off|none|null|nil|undefined|enabled|disabled|required|optional|empty|string|value|dummy|fake|demo|sample|dev|local|postgres|mysql|mariadb|mongo|redis|minio|minioadmin)$|(?:vault|secret|file|env|arn|keychain|op):|example|placeholder|change[-_]?(?:me|it|this)|replace|your/i;

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

const whole = (text: string) => new RegExp(`^(${text})$`, 'is');
const MATCHERS = [...NAMED, ...NAMED_FILES, ...NAMED_KEYS].map((files) => ({
  holds: files.holds,
  path: whole(`(.*/)?${endsWith([files])}`),
}));
const SHOWN = whole(SECRET_PATTERNS.shown);
const PLACES = whole(`${SECRET_PATTERNS.hidden}|${SECRET_PATTERNS.keys}`);
const FILES = whole(SECRET_PATTERNS.hiddenFiles);

/**
 * What a file of that path holds, if it is a secret by its name: `private key`. Names are compared as file systems that fold them do, and
 * what editors leave beside a file is that file. Undefined for others, and for examples of such files.
 */
export function secretByName(path: string): string | undefined {
  const folded = foldedPath(path);
  return SHOWN.test(folded) ? undefined : MATCHERS.find((one) => one.path.test(folded))?.holds;
}

/**
 * The components of a path that have the name of a secret, each as the path that ends with it: of `a/.aws/config`, `a/.aws` and itself. Empty
 * where nothing looks like one.
 */
export function secretPaths(path: string): readonly string[] {
  const names = path.split('/');
  return names.flatMap((_name, index) => {
    const above = names.slice(0, index + 1).join('/');
    const folded = foldedPath(above);
    if (SHOWN.test(folded)) return [];
    return PLACES.test(folded) || (index === names.length - 1 && FILES.test(folded)) ? [above] : [];
  });
}

/**
 * The texts of a file that look like secrets, whatever its name. It sees known forms alone, and no secret that looks like any other text.
 *
 * @param start the beginning of the file: what lies behind {@link SECRET_LOOK_BYTES} is not looked at
 */
export function secretTexts(path: string, start: Uint8Array): readonly SecretText[] {
  const text = textOf(start.subarray(0, SECRET_LOOK_BYTES));
  const name = foldedPath(path.slice(path.lastIndexOf('/') + 1));
  const own = OWN_FORMS.filter(([names]) => names.has(name)).map(([, holds, form]) => [holds, form] as const);
  const found = [...WRITTEN, ...own].flatMap(([holds, form]) =>
    [...text.matchAll(form)].slice(0, MAX_TEXTS).map(([one]) => ({ holds, text: one.slice(0, 500) })),
  );
  if (text.includes('\0')) return found; // programs are full of patterns of addresses
  return [...found, ...passwordsOf(text), ...(SETTINGS.has(name) && !SHOWN.test(name) ? settingsOf(text) : [])];
}

/** Names in capitals are those of environments; others are labels too, as `login.password` of a translation is, so a figure has to be in it. */
function settingsOf(text: string): readonly SecretText[] {
  const isSecret = ([, name = '', , value = '']: RegExpMatchArray) =>
    !PLACEHOLDER.test(value) &&
    !NO_VALUE.test(value) &&
    (name === name.toUpperCase() || /[a-z].*\d|\d.*[a-z]/i.test(value));
  return [...text.matchAll(ASSIGNMENT)]
    .filter(isSecret)
    .slice(0, MAX_TEXTS)
    .map(([one]) => ({ holds: 'secret in a setting', text: one.trim() }));
}

function passwordsOf(text: string): readonly SecretText[] {
  const isSecret = ([, user = '', password = '', host = '']: RegExpMatchArray) =>
    !PLACEHOLDER.test(password) && password.toLowerCase() !== user.toLowerCase() && !NO_HOST.test(host);
  return [...text.matchAll(ADDRESS)]
    .filter(isSecret)
    .slice(0, MAX_TEXTS)
    .map(([one]) => ({ holds: 'password in an address', text: one }));
}

/** One character for each byte; of UTF-16, as some programs of Windows write it, the characters that are ASCII. */
function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder('latin1').decode(bytes);
  return /^(?:\xff\xfe|\xfe\xff|(?:[\t-~]\0){8}|(?:\0[\t-~]){8})/.test(text) ? text.replaceAll('\0', '') : text;
}
