// A vocabulary whose tokens are words: between blanks, and divided at punctuation where the whole is no token.

#include "core/io/inputs/tokenizers/decoders.h"
#include "core/io/inputs/tokenizers/models.h"
#include "core/io/inputs/tokenizers/normalizers.h"
#include "core/io/inputs/tokenizers/pre_tokenizers.h"
#include "core/io/inputs/tokenizers/tokenizer_file.h"

namespace sonde::io {

namespace {

PreTokenizer wordsOf(std::shared_ptr<const TokenModel> model) {
    return [model = std::move(model), divide = bertPreTokenizer(), atBlanks = blankPreTokenizer()](
               Pieces pieces, bool isBeginning) -> base::Result<Pieces> {
        SONDE_ASSIGN(pieces, atBlanks(std::move(pieces), isBeginning));
        Pieces made;
        for (std::string& piece : pieces) {
            if (model->table().id(piece)) {
                made.push_back(std::move(piece));
                continue;
            }
            SONDE_ASSIGN(Pieces parts, divide({std::move(piece)}, isBeginning));
            for (std::string& part : parts) made.push_back(std::move(part));
        }
        return made;
    };
}

}  // namespace

VocabularyKind wordKind() {
    VocabularyKind kind;
    kind.id = "words";
    kind.fits = [](const std::vector<std::string>&) { return true; };
    kind.make = [](TokenTable table, const std::vector<AddedToken>& special, bool lowersCase) {
        Tokenizer::Parts parts;
        parts.description = lowersCase ? "words, lower case" : "words";
        for (const AddedToken& token : special) parts.added.add(token);
        if (lowersCase) parts.normalizer = bertNormalizer({false, false, false, true});
        std::string unknown = unknownTokenOf(table);
        parts.model = wordModel(std::move(table), std::move(unknown));
        parts.preTokenizer = wordsOf(parts.model);
        parts.decoder = joiningDecoder(" ");
        return parts;
    };
    return kind;
}

}  // namespace sonde::io
