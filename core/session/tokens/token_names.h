#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/inputs/text_item.h"
#include "core/io/inputs/tokenizers/tokenizer.h"

namespace sonde::document {
struct Document;
}

namespace sonde::session {

class Session;

/// What token ids are called in the values of a run.
struct TokenNames {
    std::shared_ptr<const io::Tokenizer> tokenizer;  ///< null: none is known
    std::vector<std::int64_t> ids;                   ///< of the input for ids, its first row; empty: there is none

    /// The token of an id as it is read; empty: it has none, or no tokenizer is known.
    std::string of(std::int64_t id) const;
    /// The token at a position of the input; empty beyond its end.
    std::string at(std::int64_t position) const;
    bool operator==(const TokenNames&) const = default;
};

/// What the names are found by, so that finding them touches nothing of a session.
struct TokenNamesRequest {
    std::string item;        ///< that the input for ids was given: a text names its tokenizer
    std::string vocabulary;  ///< chosen for outputs, or beside the model; empty: none
    std::vector<std::int64_t> ids = {};
};

/// tokenizer.json or vocab.txt in the folder of the model; empty: there is none, or a session file may not read it.
std::string tokenFileBeside(const document::Document& document);
/// Of the last run, or without one of the inputs: the only input of integers with one or two dimensions, or the one
/// that is named as ids are. `vocabulary`: a file that was chosen; empty: tokenizer.json or vocab.txt beside the model.
TokenNamesRequest tokenNamesRequest(const Session& session, const std::string& vocabulary = {});
/// The tokenizer that a text names which an input was given; nothing: the item is no text.
std::optional<io::TokenizerPart> tokenizerPartOf(const std::string& item);
/// The same, read; null: there is none, or it cannot be read. Blocks.
std::shared_ptr<const io::Tokenizer> tokenizerOfItem(const std::string& item);
/// Reads the tokenizer of a text, else the vocabulary; without either, or if it cannot be read, there are ids alone.
/// Blocks, on any thread.
TokenNames findTokenNames(const TokenNamesRequest& request);

}  // namespace sonde::session
