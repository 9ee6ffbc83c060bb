#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/document/document_types.h"
#include "core/io/inputs/text_item.h"
#include "core/io/inputs/tokenizers/tokenizer.h"
#include "core/io/inputs/vocabulary.h"

namespace sonde::session::outputs {

/// What the token ids of an output are called: by a vocabulary, whose tokens say themselves how they are joined, or by
/// a tokenizer. Immutable.
class OutputTokens {
  public:
    /// A token a line, or the tokens in JSON: tokenizer.json, a list or an object. Recognised by content. Errors: those
    /// of io::Vocabulary::read and io::openTokenizer.
    static base::Result<OutputTokens> read(const std::string& path);
    explicit OutputTokens(std::shared_ptr<const io::Tokenizer> tokenizer) : m_tokenizer(std::move(tokenizer)) {}

    /// Empty: no token has this id.
    std::string token(std::int64_t id) const;
    std::string text(std::span<const std::int64_t> ids) const;
    /// One past the largest id.
    std::int64_t idCount() const;

  private:
    explicit OutputTokens(io::Vocabulary vocabulary)
        : m_vocabulary(std::make_shared<const io::Vocabulary>(std::move(vocabulary))) {}

    std::shared_ptr<const io::Tokenizer> m_tokenizer;  // either of both
    std::shared_ptr<const io::Vocabulary> m_vocabulary;
};

/// tokenizer.json or vocab.txt in the folder of the model; empty: there is none, or a session file may not read it.
std::string tokenFileBeside(const document::Document& document);
/// The tokenizer that a text names which an input was given; nothing: the item is no text.
std::optional<io::TokenizerPart> tokenizerPartOf(const std::string& item);
/// The same, read; null: there is none, or it cannot be read. Blocks.
std::shared_ptr<const io::Tokenizer> tokenizerOfItem(const std::string& item);

}  // namespace sonde::session::outputs
