/**
 * The tables of the event log. A position is the time of its append in microseconds, or one more than the last where
 * that is later. AUTOINCREMENT remembers the last one, so that none is given twice: not after everything was pruned,
 * and not after an older copy of the file was put back, whose log goes on later than the one it replaces. Made when a file is opened; adding to them is how the file grows with the code.
 */
export const tables = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS messages (
  message_id TEXT PRIMARY KEY, position INTEGER NOT NULL, body_hash BLOB NOT NULL, received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS messages_by_time ON messages (received_at);
CREATE TABLE IF NOT EXISTS events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id TEXT NOT NULL, received_at INTEGER NOT NULL, type TEXT NOT NULL,
  user_id TEXT, client_user_id TEXT, team_id TEXT, subject TEXT, version INTEGER,
  origin TEXT NOT NULL, advances INTEGER NOT NULL, dead_reason TEXT, body BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS events_of_user ON events (user_id, position);
CREATE INDEX IF NOT EXISTS events_of_subject ON events (subject, position);
CREATE INDEX IF NOT EXISTS dead_letters ON events (position) WHERE dead_reason IS NOT NULL;
CREATE TABLE IF NOT EXISTS subjects (
  subject TEXT PRIMARY KEY, version INTEGER NOT NULL, position INTEGER NOT NULL, user_id TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (
  user_id TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL,
  position INTEGER NOT NULL, received_at INTEGER NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (user_id, kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS facts_by_time ON facts (user_id, kind, at);
CREATE INDEX IF NOT EXISTS facts_by_position ON facts (position);
CREATE TABLE IF NOT EXISTS replies (
  key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, since INTEGER NOT NULL, answer BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS replies_by_time ON replies (since);
CREATE TABLE IF NOT EXISTS deposits (
  key TEXT PRIMARY KEY, until INTEGER NOT NULL, value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS deposits_by_time ON deposits (until);
`;
