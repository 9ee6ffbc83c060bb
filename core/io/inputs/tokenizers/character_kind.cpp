// A vocabulary whose tokens are single characters: nothing is between them.

#include <algorithm>

#include "core/io/inputs/tokenizers/character_classes.h"
#include "core/io/inputs/tokenizers/decoders.h"
#include "core/io/inputs/tokenizers/models.h"
#include "core/io/inputs/tokenizers/normalizers.h"
#include "core/io/inputs/tokenizers/tokenizer_file.h"

namespace sonde::io {

VocabularyKind characterKind() {
    VocabularyKind kind;
    kind.id = "characters";
    kind.fits = [](const std::vector<std::string>& tokens) {
        return !tokens.empty() &&
               std::ranges::all_of(tokens, [](const std::string& token) { return characterCount(token) == 1; });
    };
    kind.make = [](TokenTable table, const std::vector<AddedToken>& special, bool lowersCase) {
        Tokenizer::Parts parts;
        parts.description = lowersCase ? "characters, lower case" : "characters";
        for (const AddedToken& token : special) parts.added.add(token);
        if (lowersCase) parts.normalizer = bertNormalizer({false, false, false, true});
        std::string unknown = unknownTokenOf(table);
        parts.model = characterModel(std::move(table), std::move(unknown));
        parts.decoder = joiningDecoder({});
        return parts;
    };
    return kind;
}

}  // namespace sonde::io
