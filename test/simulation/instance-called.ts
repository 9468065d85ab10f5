/** An instance name in the format of the module: owner ids of another format are those of other packages. */
export function instanceCalled(name: string): string {
  return `${name}-1-v1-000000000000`;
}
