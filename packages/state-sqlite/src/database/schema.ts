/** Marks the file as ours: `LBOX`. https://www.sqlite.org/pragma.html#pragma_application_id */
export const APPLICATION_ID = 0x4c424f58;

/** The step at index N makes version N + 1 out of version N. Steps are never changed once released. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sandbox (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    repository_id TEXT NOT NULL,
    slug TEXT NOT NULL,
    generation INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (repository_id, slug)
  ) STRICT;

  CREATE TABLE journal (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    step TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;

  CREATE TABLE event (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    body TEXT NOT NULL
  ) STRICT;

  CREATE TABLE trust (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    repository_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (repository_id, content_hash)
  ) STRICT;

  -- What the hash covers is body and sequence alone; the other columns are computed from body and cannot disagree with it.
  CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    starts INTEGER GENERATED ALWAYS AS (body ->> 'starts') VIRTUAL,
    repository_id TEXT GENERATED ALWAYS AS (body ->> 'repositoryId') VIRTUAL,
    sandbox TEXT GENERATED ALWAYS AS (body ->> 'sandbox') VIRTUAL
  ) STRICT;
  CREATE UNIQUE INDEX audit_end ON audit (starts) WHERE starts IS NOT NULL;
  CREATE INDEX audit_repository ON audit (repository_id) WHERE repository_id IS NOT NULL;
  CREATE INDEX audit_sandbox ON audit (sandbox) WHERE sandbox IS NOT NULL;
  -- The newest entry once more, so that entries removed at the end are missed.
  CREATE TABLE audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), sequence INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
  INSERT INTO audit_head VALUES (1, 0, '');
  -- Starts without an end yet, and who is to write it.
  CREATE TABLE audit_open (starts INTEGER PRIMARY KEY, owner TEXT NOT NULL) STRICT;
  `,
  `
  -- Sandboxes made in advance. Whoever makes, takes or removes one owns it; what is ready has no owner.
  CREATE TABLE pool (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    repository_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('filling', 'ready', 'claimed', 'condemned')),
    owner TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- What was spent of budgets that all sandboxes of a repository share. Without an item: ''.
  CREATE TABLE spent (
    repository_id TEXT NOT NULL,
    name TEXT NOT NULL,
    item TEXT NOT NULL,
    amount REAL NOT NULL,
    ends_ms REAL NOT NULL,
    PRIMARY KEY (repository_id, name, item)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX spent_ends ON spent (ends_ms);
  `,
  `
  -- Nothing is made in advance any more.
  DROP TABLE pool;
  `,
];
