import { execFile } from 'node:child_process';

const LONGEST = 300_000;

/**
 * Runs a program to its end.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd: string, signal: AbortSignal }} options
 * @returns {Promise<string>} what it printed
 * @throws Error with what it printed, when it fails
 */
export function runProgram(program, args, { cwd, signal }) {
  // Neither what this process was started with, nor colours, are part of the application.
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', CI: 'true' };
  const options = { cwd, signal, env, maxBuffer: 2 ** 26, timeout: LONGEST };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`;
      if (error) reject(new Error(`${[program, ...args].join(' ')} failed:\n${output}`, { cause: error }));
      else resolve(output);
    });
  });
}
