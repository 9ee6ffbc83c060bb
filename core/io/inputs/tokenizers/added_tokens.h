#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/io/inputs/tokenizers/json_place.h"
#include "core/io/inputs/tokenizers/pipeline.h"

namespace sonde::io {

/// A token that is looked for in the text itself, before it is divided: "[MASK]", "<|endoftext|>".
struct AddedToken {
    std::string content;
    std::int64_t id = 0;
    bool isSpecial = false;     ///< none of the text
    bool isWord = false;        ///< only where no letter or digit is beside it
    bool takesLeft = false;     ///< with the blanks before it
    bool takesRight = false;    ///< with those after it
    bool isNormalized = false;  ///< looked for in the normalised text
};

/// Part of a text: an added token, or what is between them.
struct TextPart {
    std::string text;
    std::optional<std::int64_t> id = {};
};

/// All of a tokenizer, by id and by their beginnings.
class AddedTokens {
  public:
    /// "added_tokens" of a tokenizer.json. Errors with the place.
    static base::Result<AddedTokens> read(const JsonPlace& place);

    void add(AddedToken token);
    /// After all are added: `normalizer` may be empty.
    base::Result<void> prepare(const Normalizer& normalizer);

    const std::vector<AddedToken>& all() const { return m_tokens; }
    const AddedToken* find(std::int64_t id) const;
    const AddedToken* find(std::string_view content) const;

    /// The text divided at the tokens that are looked for in it as it is, or in its normalised form; the longest of
    /// those that begin at one place counts. No empty parts.
    std::vector<TextPart> divide(std::string_view text, bool isNormalized) const;

  private:
    /// Tokens by their bytes: edges from a node, and the token that ends there.
    class Trie {
      public:
        void add(std::string_view content, std::size_t token);
        /// The longest token that the text begins with, and its bytes.
        std::optional<std::pair<std::size_t, std::size_t>> longest(std::string_view text) const;
        bool isEmpty() const { return m_nodes.size() == 1; }

      private:
        struct Branch {
            std::map<char, std::size_t> next;
            std::optional<std::size_t> token;
        };
        std::vector<Branch> m_nodes{1};
    };

    std::vector<AddedToken> m_tokens;
    std::unordered_map<std::int64_t, std::size_t> m_byId;
    std::map<std::string, std::size_t, std::less<>> m_byContent;
    Trie m_plain, m_normalized;
};

}  // namespace sonde::io
