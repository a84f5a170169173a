/** Rounds of percent-decoding that an argument may hide behind. */
const ROUNDS = 3;
const SEPARATORS = /[/\\=:,; ]/;

/**
 * Whether an argument climbs out of a directory: any segment, split on `/ \ = : , ;` and space, that is `..` after
 * NFKC and three rounds of percent-decoding. `HEAD~1..HEAD` and `...` pass.
 */
export function climbs(argument: string): boolean {
  return decoded(argument).split(SEPARATORS).includes('..');
}

/** Whether an argument holds a NUL, plainly or percent-encoded. */
export function holdsNul(argument: string): boolean {
  return decoded(argument).includes('\0');
}

function decoded(argument: string): string {
  let text = argument.normalize('NFKC');
  for (let round = 0; round < ROUNDS; round++) text = percentDecode(text).normalize('NFKC');
  return text;
}

/** Decodes what is well-formed; a run that is no UTF-8 still has its ASCII bytes decoded. */
function percentDecode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run.replace(/%[0-7][0-9a-f]/gi, (byte) =>
        String.fromCharCode(Number.parseInt(byte.slice(1), 16)),
      );
    }
  });
}
