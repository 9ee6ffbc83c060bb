#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/io/inputs/tokenizers/tokenizer.h"

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

/// Of the last run, or without one of the inputs: the only input of integers with one or two dimensions, or the one
/// that is named as ids are. `vocabulary`: a file that was chosen; empty: tokenizer.json or vocab.txt beside the model.
TokenNamesRequest tokenNamesRequest(const Session& session, const std::string& vocabulary = {});
/// Reads the tokenizer of a text, else the vocabulary; without either, or if it cannot be read, there are ids alone.
/// Blocks, on any thread.
TokenNames findTokenNames(const TokenNamesRequest& request);

}  // namespace sonde::session
