/** What an operator can do about a failed connection, by the code of its `lastError`. */
const HINTS: Readonly<Record<string, string>> = {
  command_not_found: "install the command, or put it on the hub's own PATH",
  command_not_allowed: 'use one of the allowed commands',
  spawn_failed: 'check that the program exists and may be executed',
  exited: "see stderrTail in /mcp/stats for the server's own words",
  connect_timeout: 'check that the server starts in time, or raise connectTimeout',
  unauthorized: "check the credentials in the server's headers (or the query of its url)",
  forbidden: "check the credentials in the server's headers (or the query of its url)",
  bad_protocol_version: 'update the tool server: it speaks none of the protocol versions of the hub',
  address_refused: 'use another address: link-local and metadata addresses are never connected to',
  bad_url: 'mend the url of the server',
  host_not_found: 'check the host name of the url',
  connection_refused: 'check that the server runs and listens at its url',
  ping_timeout: 'the server does not answer pings: it may be frozen or overloaded',
  bad_tool_list: "mend the server's tools/list",
};

/** The advice for a code; a general one for codes without their own. */
export function operatorHint(code: string): string {
  return HINTS[code] ?? 'the hub keeps trying; check the tool server if it stays away';
}
