#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/io/image/image.h"
#include "core/tensor/extent_hint.h"
#include "core/tensor/type_info.h"

namespace sonde::io {

/// An input of a model, as far as making a value for it needs to know.
struct InputInfo {
    std::string name;
    tensor::TypeInfo type;
    bool isGuide = false;  ///< the type is what the layers want: data of another rank is the model's own affair
    tensor::ExtentHints usual;  ///< what a first run should give, where something tells
};

struct InputOptions {
    std::uint64_t seed = 0;  ///< of #rand; each input has a sequence of its own
    ImageOptions image;
    int repeat = 1;          ///< each sample of file data is repeated so often along axis 0; no effect on #rand
};

/// One set of inputs and what it was called: "", "case1", or its line of a list.
struct InputCase {
    std::string name;
    std::vector<tensor::Value> values;  ///< one per input
};

/// Makes input values of a specification (trace-dump c1, and npz files):
///   a.npy | photo.png           the one input
///   x:a.npy;mask:#rand(0,1)     several, by name; the name ends at the first ':' after a known input name
///   #rand(min,max[,shape…])     uniform in [min,max), truncated for integers; one alone is for all inputs.
///                               A final `...` appends the input's remaining extents
///   #zeros                      zeros of the input's shape
///   file.npz, file.npz#case1    every input by key in.NAME or NAME (case1.in.NAME)
///   x:file.npz#key              the array of that key for one input; without a key in.x, x, or the only one
///   @list.txt                   one case a line; empty lines are left out
/// Extents that the model leaves open are what `usual` says, else 1; height and width of a picture-like input
/// ([N,1 or 3,H,W]) 224.
/// Empty text: #rand(0,1) for every input.
/// Errors (Usage): what is wrong, and where in the text. Files that cannot be read keep their own error.
base::Result<std::vector<InputCase>> makeInputs(std::string_view spec, const std::vector<InputInfo>& inputs,
                                                const InputOptions& options = {}, const base::WorkContext& work = {});

/// The value for one input of one item of a specification: a path, #rand(…) or #zeros.
base::Result<tensor::Value> makeInput(std::string_view item, const InputInfo& input, std::size_t index,
                                      const InputOptions& options = {});

/// The shape that is used where nothing says otherwise. A rank comes from the type, or from the hints.
tensor::Shape usualShape(const tensor::TypeInfo& type, const tensor::ExtentHints& usual = {});

}  // namespace sonde::io
