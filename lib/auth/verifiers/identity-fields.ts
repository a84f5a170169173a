/** Where an identity API or a token may carry the identity, first found wins (contract §4). */
const ID_FIELDS = ['id', 'sub', 'user_id', 'username'] as const;
const LONGEST_ID = 256;

/**
 * The identity id in `subject`; undefined where there is none. A text too long to be kept, or a number too large
 * to be told from its neighbours, is none: cut short or rounded it would be somebody else's.
 */
export function identityIdOf(subject: Record<string, unknown>): string | undefined {
  for (const field of ID_FIELDS) {
    const value = subject[field];
    if (typeof value === 'string' && value.length > 0 && value.length <= LONGEST_ID) return value;
    if (Number.isSafeInteger(value)) return String(value);
  }
  return undefined;
}
