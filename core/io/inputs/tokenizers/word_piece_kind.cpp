// vocab.txt of BERT (Devlin et al. 2018, tokenization.py): tokens that continue a word begin with ##.

#include <algorithm>

#include "core/io/inputs/tokenizers/decoders.h"
#include "core/io/inputs/tokenizers/models.h"
#include "core/io/inputs/tokenizers/normalizers.h"
#include "core/io/inputs/tokenizers/pre_tokenizers.h"
#include "core/io/inputs/tokenizers/tokenizer_file.h"

namespace sonde::io {

namespace {

/// [CLS] text [SEP], if the vocabulary has both.
Template sentenceTemplate(const TokenTable& table) {
    const auto first = table.id("[CLS]"), last = table.id("[SEP]");
    if (!first || !last) return {TemplatePart{}};
    return {{false, *first, 0}, {true, 0, 0}, {false, *last, 0}};
}

}  // namespace

VocabularyKind wordPieceKind() {
    VocabularyKind kind;
    kind.id = "wordpiece";
    kind.fits = [](const std::vector<std::string>& tokens) {
        return std::ranges::any_of(
            tokens, [](const std::string& token) { return token.size() > 2 && token.starts_with("##"); });
    };
    kind.make = [](TokenTable table, const std::vector<AddedToken>& special, bool lowersCase) {
        Tokenizer::Parts parts;
        parts.description = lowersCase ? "WordPiece, lower case" : "WordPiece";
        for (const AddedToken& token : special) parts.added.add(token);
        // Accents go with capitals, as in BERT's own files.
        parts.normalizer = bertNormalizer({true, true, lowersCase, lowersCase});
        parts.preTokenizer = bertPreTokenizer();
        parts.around = sentenceTemplate(table);
        WordPieceOptions options;
        options.unknown = unknownTokenOf(table);
        parts.model = wordPieceModel(std::move(table), std::move(options));
        parts.decoder = wordPieceDecoder("##", true);
        return parts;
    };
    return kind;
}

}  // namespace sonde::io
