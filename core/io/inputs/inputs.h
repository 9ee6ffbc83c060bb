#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mapped_file.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/io/image/image.h"
#include "core/io/inputs/input_info.h"

namespace sonde::io {

struct InputOptions {
    std::uint64_t seed = 0;  ///< of #rand; each input of each case has a sequence of its own
    ImageOptions image;
    int repeat = 1;  ///< each sample of file data is repeated so often along axis 0; no effect on #rand
    /// Whether the model has a value of its own for an input of that name (an initializer, a default): such inputs are
    /// not asked for, and arrays of that name belong to no other input. Empty: there are none.
    std::function<bool(const std::string& name)> hasDefault = {};
};

/// The options of the case at `index` of several: its random numbers are its own. The first one has those of `options`.
InputOptions ofCase(const InputOptions& options, std::size_t index);

/// One set of inputs and what it was called: "", "case1", or its line of a list.
struct InputCase {
    std::string name;
    std::vector<tensor::Value> values;  ///< one per input
    std::vector<std::string> notes =
        {};  ///< what a person should know of how they were found: "array 'in.image' is used for input 'input'"
};

/// Makes input values of a specification (input-data.md, "Grammar"), npz files included:
///   a.npy | photo.png           the one input; further kinds of files: see data_files.h
///   speech.wav#16000,0,512      a recording at 16,000 samples per second, 512 samples of it from the first
///   x:a.npy;mask:#rand(0,1)     several, by name; the name ends at the first ':' after a known input name
///   16000, [1,2,3], [[1,2]]     numbers (see literal.h); {2,3}: only a shape
///   #rand(min,max[,shape…])     uniform in [min,max), truncated for integers; one alone is for all inputs. min <= max.
///                               A final `...` appends the input's remaining dim sizes
///   #zeros                      zeros of the input's shape
///   #draw(…)                    a picture of strokes; see drawing.h
///   ITEM+noise(0.1,7)           floats of an item with uniform noise added: amplitude and seed; see noise.h
///   file.npz, file.npz#case1    every input by key in.NAME or NAME (case1.in.NAME); see npz_inputs.h
///   x:file.npz                  the same for every input that is not given otherwise
///   x:file.npz#key              the array `key` (or `in.key`) for one input
///   @list.txt                   one case a line; empty lines are left out
/// Dim sizes that the model leaves open are what `usual` says, else 1; height and width of an image-like input
/// ([N,1 or 3,H,W]) 224; a symbol ("N") has one size in all inputs, that of the data if there is any.
/// Empty text: defaultItem() of every input.
/// Errors (Usage): what is wrong, and where in the text; a value that contradicts what the model declares. Files that
/// cannot be read keep their own error.
base::Result<std::vector<InputCase>> makeInputs(std::string_view spec, const std::vector<InputInfo>& inputs,
                                                const InputOptions& options = {}, const base::WorkContext& work = {});

/// A value for one input and what a person should know of how it was found; may be empty.
struct GivenInput {
    tensor::Value value;
    std::string note;
    base::MappedFiles files = {};  ///< that it was read from, also where it was decoded (pictures, compressed arrays):
                                   ///< see MappedFile::hasChanged()
};
/// The value for one input of one item of a specification: a path, numbers, #rand(…) or #zeros.
base::Result<GivenInput> giveInput(std::string_view item, const InputInfo& input, std::size_t index,
                                   const InputOptions& options = {});
/// The same without the note.
base::Result<tensor::Value> makeInput(std::string_view item, const InputInfo& input, std::size_t index,
                                      const InputOptions& options = {});

/// What an input gets when nothing is said: #rand(0,1), masks and bools 1; for a single number 0, 0.5 or false.
std::string defaultItem(const InputInfo& input);

/// How an item of a specification gives a value.
enum class ItemKind { Random, Zeros, Literal, Archive, File };
ItemKind kindOfItem(std::string_view item);

}  // namespace sonde::io
