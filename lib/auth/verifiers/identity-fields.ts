/** Where an identity API or a token may carry the identity, first found wins (contract §4). */
const ID_FIELDS = ['id', 'sub', 'user_id', 'username'] as const;

/** The identity id in `subject`, a text of at most 256 characters; undefined where there is none. */
export function identityIdOf(subject: Record<string, unknown>): string | undefined {
  for (const field of ID_FIELDS) {
    const value = subject[field];
    if (typeof value === 'string' && value.length > 0) return value.slice(0, 256);
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  }
  return undefined;
}
