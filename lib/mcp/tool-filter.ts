/** Says whether a tool of a server is exposed. */
export type ToolFilter = (tool: string) => boolean;

/** Compiles `allowedTools` (empty: all) and `ignoredTools` (which wins) of one server (spec §2.8). */
export function createToolFilter(
  allowedTools: readonly string[],
  ignoredTools: readonly string[],
): ToolFilter {
  const allowed = new Set(allowedTools);
  const ignored = new Set(ignoredTools);
  return (tool) => !ignored.has(tool) && (allowed.size === 0 || allowed.has(tool));
}
