#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/io/inputs/input_info.h"
#include "core/io/npz/npz.h"

namespace sonde::io {

using HasDefault = std::function<bool(const std::string& name)>;

/// Which arrays of one case of an archive belong to which inputs:
///   1. the array in.NAME, else NAME (case1.in.NAME, case1.NAME);
///   2. where one input is left, the one array left that has its rank and its class of dtypes (floats, integers, bools,
///      complex numbers): first among in.*, then among the others.
/// Arrays under out., node. and seq., of other cases and summaries (.shape, .stats, .head) are never taken for inputs.
struct ArrayMatch {
    std::vector<std::string> keys;                         ///< by input; empty: the case has no array for it
    std::optional<std::size_t> guessed;                    ///< the input that got its array by rule 2
    tensor::DType guessedType = tensor::DType::Undefined;  ///< of that array
    std::vector<std::string> left;       ///< "in.image float32[1,3,8,8]": arrays that could be inputs and are none's
    std::vector<std::string> unused;     ///< keys under in. that name no input of the model
    std::vector<std::size_t> doubled;    ///< inputs that have both in.NAME and NAME, which hold different values
    std::vector<std::string> defaulted;  ///< keys of inputs that have a value of their own in the model

    /// "array 'in.image' is used for input 'input', converted from float64 to float32", "array 'in.z' is not used …".
    std::vector<std::string> notes(const std::vector<InputInfo>& inputs) const;
};
/// "array 'in.x' is used for input 'x', converted from int64 to float32"; empty if it has the dtype of the input.
std::string conversionNote(const std::string& key, tensor::DType given, const InputInfo& input);

/// `casePrefix`: "" or "case1.". `isOpen`: which inputs may get an array by rule 2; empty: all.
base::Result<ArrayMatch> matchArrays(const NpzFile& file, const std::string& casePrefix,
                                     const std::vector<InputInfo>& inputs, const std::vector<bool>& isOpen = {},
                                     const HasDefault& hasDefault = {});
/// "the file has no array for input 'x' (expected key 'in.x' or 'x')", with the inputs and the arrays that are left.
base::Error missingArray(const ArrayMatch& match, const std::string& casePrefix, const std::vector<InputInfo>& inputs,
                         const std::vector<bool>& isOpen, const NpzFile& file, const std::string& where);

/// What an archive gives to inputs, as items to be read one by one.
struct ArchiveFill {
    std::string caseName;            ///< "case1"; may be empty
    std::vector<std::string> items;  ///< by input; empty: nothing
    std::vector<std::string> notes;
    std::optional<base::Error> refused;  ///< an open input got nothing: why, with both lists
    std::optional<base::Error>
        lacking;  ///< the same of inputs that others may give values to, where the archive is one input's
};
struct FillOptions {
    std::vector<bool> isOpen;           ///< inputs that nothing else is given for; empty: all
    std::optional<std::size_t> target;  ///< the input that the archive is given to; none: to all
    HasDefault hasDefault;
};
/// `item`: "file.npz", "file.npz#case1", "file.npz#key" (the array `key` or `in.key`). Errors: the archive cannot be
/// read, or has neither a case nor an array of that name.
base::Result<ArchiveFill> fillFromArchive(std::string_view item, const std::vector<InputInfo>& inputs,
                                          const FillOptions& options);

/// The value of one input from an item of an archive; `note` says if the array has another name or is converted.
base::Result<tensor::Value> archiveValue(std::string_view item, const InputInfo& input, const HasDefault& hasDefault,
                                         std::string& note);

/// "file.npz#case1" → "file.npz", "case1".
std::pair<std::string, std::string> splitArchiveItem(std::string_view item);

}  // namespace sonde::io
