/** @returns a script that completes the names of the commands; null for a shell that has none */
export function completions(shell: string, names: readonly string[]): string | null {
  const words = names.join(' ');
  const scripts: Readonly<Record<string, string>> = {
    bash: `complete -W '${words}' labgraph\n`,
    zsh: `#compdef labgraph\ncompadd ${words}\n`,
    fish: `complete -c labgraph -f -n __fish_use_subcommand -a '${words}'\n`,
  };
  return Object.hasOwn(scripts, shell) ? (scripts[shell] ?? null) : null;
}
