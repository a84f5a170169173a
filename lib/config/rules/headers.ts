import type { Report } from '../faults.ts';
import { headerValueFault, isHeaderName } from '../formats.ts';
import type { Path } from '../path.ts';

/** Header names and values as HTTP allows them, after substitution. */
export function checkHeaders(
  headers: Readonly<Record<string, string | undefined>> | undefined,
  path: Path,
  report: Report,
): void {
  const seen = new Map<string, string>();
  for (const [name, value] of Object.entries(headers ?? {})) {
    const here = [...path, name];
    if (!isHeaderName(name)) report.fault(here, 'is not a header name');
    const fault = value === undefined ? undefined : headerValueFault(value);
    if (fault !== undefined) report.fault(here, fault);
    const twin = seen.get(name.toLowerCase());
    if (twin !== undefined) report.fault(here, `is the same header as ${twin}`);
    seen.set(name.toLowerCase(), name);
  }
}

/** Header names in a list such as `removeHeaders`. */
export function checkHeaderNames(
  names: readonly (string | undefined)[] | undefined,
  path: Path,
  report: Report,
): void {
  names?.forEach((name, index) => {
    if (name !== undefined && !isHeaderName(name)) report.fault([...path, index], 'is not a header name');
  });
}

/** A text that travels in a header. A secret read from a file often ends in a line break. */
export function checkHeaderText(text: string | undefined, path: Path, report: Report): void {
  if (text === undefined) return;
  const fault = headerValueFault(text);
  if (fault !== undefined) report.fault(path, fault);
  else if (text !== text.trim()) report.fault(path, 'must not start or end with a space');
}
