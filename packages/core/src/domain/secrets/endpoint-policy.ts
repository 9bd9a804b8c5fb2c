import type { SecretOrigin } from './secret-origin.ts';

/** Most that a sandbox may spend at an endpoint, over all its sessions. */
export interface EndpointBudget {
  readonly requests?: number;
  /** In and out together, as the server counts them. */
  readonly tokens?: number;
}

/** A way from a sandbox to one server, on which a secret is set outside: no program inside holds it. */
export interface EndpointPolicy {
  readonly name: string;
  /** The service that it leads to, by the name that files use. Absent: none that many agents call. */
  readonly kind?: string;
  /** Where programs inside find it, on loopback: 1 to 65535. */
  readonly inside: number;
  /** `https://HOST[:PORT][/PATH]` without a slash at its end. The path stands before each that is asked for. */
  readonly url: string;
  /** The name in small letters. In the value `{secret}` stands once. */
  readonly header: { readonly name: string; readonly value: string };
  readonly secret: { readonly name: string; readonly origin: SecretOrigin };
  /** In capitals. */
  readonly methods: readonly string[];
  /** Each whole, or with a star at its end for whatever follows. */
  readonly paths: readonly string[];
  /** By which programs find it: `{url}` and `{placeholder}` are filled in. */
  readonly variables: Readonly<Record<string, string>>;
  /** The setup has it as well. Absent: commands alone. */
  readonly inSetup?: true;
  /** Absent: no bound but that of the key itself. */
  readonly budget?: EndpointBudget;
  /** Programs inside hold it in place of the secret. It never leaves. */
  readonly placeholder: string;
}

/** Whether a path, without its query, is one of the list. */
export function isListedPath(paths: readonly string[], path: string): boolean {
  return paths.some((one) => (one.endsWith('*') ? path.startsWith(one.slice(0, -1)) : path === one));
}
