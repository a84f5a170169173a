/**
 * Ways in which an allowed command runs code that no file on disk holds. They are legitimate, and the allowlist
 * says nothing about them: a warning, or with `mcp.security.strict` a fault.
 */
const NODE_FLAG = /^(-[a-z]*[ep]|-r|--eval|--print|--require|--import|--loader|--experimental-loader)(=|$)/;
const PYTHON_FLAG = /^-[bBdEhiIOPqRsSuvVx?]*c/;
const RUNNER_FLAG = /^(-c|-e|-p|--call|--eval|--print|--require|--import)(=|$)/;
const LOADER_NAME =
  /^(NODE_OPTIONS|NODE_PATH|LD_.*|DYLD_.*|PYTHONPATH|PYTHONHOME|PYTHONSTARTUP|BASH_ENV|npm_config_.*)$/i;

/** Indexes of the arguments that make `command` run code given on the command line, or load some first. */
export function inlineCodeFlags(command: string, args: readonly (string | undefined)[]): number[] {
  const flag = command === 'node' ? NODE_FLAG : command.startsWith('python') ? PYTHON_FLAG : RUNNER_FLAG;
  const interpreter = flag !== RUNNER_FLAG;
  const found: number[] = [];
  for (const [index, argument] of args.entries()) {
    if (argument === undefined) continue;
    if (flag.test(argument)) found.push(index);
    // What follows the script belongs to the script. Runners start further programs: they are read to the end.
    const script = !argument.startsWith('-') && /[./\\]/.test(argument);
    if (interpreter && (script || argument === '-m')) break;
  }
  return found;
}

/** Whether an environment variable of this name makes an interpreter load code of somebody's choice. */
export function isLoaderName(name: string): boolean {
  return LOADER_NAME.test(name);
}
