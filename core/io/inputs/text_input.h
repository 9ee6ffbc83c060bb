#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/inputs/input_info.h"

namespace sonde::io {

/// What an input of a model of text is filled with, by its name.
enum class TextRole : std::uint8_t {
    Ids,
    Mask,      ///< attention_mask: 1 for tokens, 0 for padding
    Types,     ///< token_type_ids
    Positions  ///< position_ids: 0, 1, 2…; 0 for padding
};
TextRole textRoleOf(std::string_view inputName);
/// Whether an item gives a text, typed or as a file.
bool givesText(std::string_view item);
/// Whether ids of a text fit: integers, or a type that is not known, of shape [S] or [N,S].
bool takesText(const tensor::TypeInfo& type);
/// tokenizer.json or vocab.txt in the folder of a file, such as that of a model; empty: neither is there.
std::string tokenizerBeside(const std::string& path);

/// The value of an item that givesText(), and how it was found: the tokens with their ids, what was cut off, padded or
/// is unknown. Integers in the input's shape [S] or [N,S]; one text for all of N.
base::Result<tensor::Tensor> textTensor(std::string_view text, std::string_view part, const InputInfo& input,
                                        std::string& note);
base::Result<tensor::Tensor> textItemTensor(std::string_view item, const InputInfo& input, std::string& note);

/// Where an item goes that names no input: the only input for ids of a model of text. Nothing: there is none.
std::optional<std::size_t> inputOfText(const std::vector<InputInfo>& inputs);

/// Fills items that are empty from that of the only input for ids that is given a text: of inputs whose names say that
/// they go with it (TextRole). Returns which.
std::vector<std::size_t> fillFromText(std::vector<std::string>& items, const std::vector<InputInfo>& inputs);

}  // namespace sonde::io
