import type { Command } from '../gateway/commands/program.ts';
import { GatewayError } from '../gateway/errors.ts';

/** @param listNames called when the command runs */
export function createCompletions(listNames: () => readonly string[]): Command<null> {
  return {
    usage: '<bash|zsh|fish>',
    summary: 'prints a script for your shell that completes the names of the commands',
    options: {},
    examples: ['bash > ~/.local/share/bash-completion/completions/labgraph', 'fish | source'],
    format: ({ script }) => String(script),
    run: async ({ words: [shell = ''], print }) => {
      const names = listNames().join(' ');
      const scripts: Readonly<Record<string, string>> = {
        bash: `complete -W '${names}' labgraph`,
        zsh: `#compdef labgraph\ncompadd ${names}`,
        fish: `complete -c labgraph -f -n __fish_use_subcommand -a '${names}'`,
      };
      if (!Object.hasOwn(scripts, shell))
        throw new GatewayError('BAD_USER_INPUT', 'Name one of bash, zsh and fish.');
      await print({ shell, script: scripts[shell] });
      return true;
    },
  };
}
