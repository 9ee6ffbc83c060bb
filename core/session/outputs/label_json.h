#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::session::outputs {

/// Whether a labels file is JSON and no list of lines: an object with a first key, or a list with a first text or list.
/// A line may begin with a bracket, too: "[background]".
bool isLabelJson(std::string_view text);

/// The names of classes, in their order, as files of labels in JSON have them: a list of names; an object of names by
/// the class, {"0": "cat"}, where in place of a name a list may stand that ends in it (imagenet_class_index.json of
/// Keras: {"0": ["n01440764", "tench"]}); an object of classes by the name, {"cat": 0} (class_to_idx of torchvision);
/// and an object with one of these under "id2label" or "label2id" (config.json of Hugging Face's transformers). A class
/// that is left out has no name. Errors (Unreadable), each with its place: no JSON; another value; a class twice or too
/// large; a name with a line end, a zero byte or of more bytes than a line may have (io::NameLines).
base::Result<std::vector<std::string>> parseLabelJson(std::string_view text, const std::string& where);

}  // namespace sonde::session::outputs
