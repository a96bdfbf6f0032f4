// Counts tokens of OpenAI's encoding o200k, offline. Standard input is a JSON array
// of strings, standard output a JSON array of numbers.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

let input = '';
for await (const chunk of process.stdin) input += chunk;
process.stdout.write(JSON.stringify(JSON.parse(input).map((text) => countTokens(text))));
