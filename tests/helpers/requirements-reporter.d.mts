/** Types of the reporter's pure parts, for their test. */
export function citedIds(title: string): string[];
export function coverageFaults(
  clauses: { requirements: { id: string; pending?: string }[]; unknownPending: string[] },
  run: { cited: Map<string, string>; verified: Set<string>; full: boolean },
): string[];
