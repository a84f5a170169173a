import type { Report } from '../faults.ts';
import { parseUrl } from '../formats.ts';
import type { Path } from '../path.ts';

/** Whether an address carries a user name or password. */
export function hasUserinfo(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.username !== '' || url.password !== '';
}

/** HTTP clients drop `user:password@`; whoever writes it expects it to be sent. */
export function warnOfUserinfo(text: string | undefined, path: Path, report: Report): void {
  if (text !== undefined && hasUserinfo(text)) {
    report.warn(
      path,
      'holds a user name or password, which is not sent; put an authorization header into headers',
    );
  }
}

/** Whether `text` is an origin and nothing more: scheme, host, port, perhaps a slash. */
export function isOrigin(text: string): boolean {
  const url = parseUrl(text, ['http:', 'https:']);
  return url !== undefined && `${url.origin}/` === url.href && !/[?#]/.test(text);
}
