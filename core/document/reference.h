#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/analysis/compare.h"
#include "core/analysis/problem.h"
#include "core/base/mapped_file.h"
#include "core/document/document_types.h"

namespace sonde::document {

/// The values of a reference file under the names that the model's inputs have.
struct Reference {
    analysis::ReferenceValues values;
    std::vector<std::string> notes;  ///< "array 'in.image' is used for input 'input'"
    base::MappedFiles files = {};    ///< what the values are read from: to be looked at before a comparison is told
    /// Cases that do not fit the model, each with the error; of several. `values` has none of their arrays.
    std::vector<analysis::ComparedCase> unfit = {};
    /// By the input's name: the file's own arrays of the first case, where others were given.
    std::map<std::string, tensor::Tensor> replaced = {};
};

/// Opens an .npz with reference values. In every case the arrays are given to the inputs as a run would be given them
/// (io::matchArrays): by name, or the one array that is left to the one input that is left; they have the input's
/// dtype. `given`: values under in.NAME for inputs of which the file holds none, or in place of its own in the first
/// case. Errors: the file cannot be read; in
/// all cases an input has no array while arrays are left, or an array contradicts what the model declares.
base::Result<Reference> openReference(const Document& document, const std::string& path,
                                      const std::map<std::string, tensor::Tensor>& given = {});

/// What a comparison with a reference file found; see analysis::compare().
struct ReferenceComparison {
    std::vector<analysis::ComparedCase> cases;
    std::vector<std::string> notes;
    base::MappedFiles files = {};  ///< what the reference was read from
    analysis::ReferenceValues values = {};
    std::map<std::string, tensor::Tensor> replaced = {};  ///< see Reference
    analysis::RunEdits edits = {};                        ///< that the runs had
};

/// Runs the document on every case of the reference and compares all that it holds, as `sonde check` and the window do.
/// Nodes that a pass gave the work of others are left out; cases that do not fit the model come last. Errors: those of
/// openReference() and of analysis::compare(); nothing was compared (Comparison). `edits`: the runs have them.
base::Result<ReferenceComparison> compareWithReference(const Document& document, const std::string& path,
                                                       const analysis::Tolerances& tolerances, exec::Runner& runner,
                                                       const std::map<std::string, tensor::Tensor>& given = {},
                                                       const base::WorkContext& work = {},
                                                       const analysis::RunEdits& edits = {});

/// Where each case of a comparison departs from the reference, see analysis::findDivergence(); problems that several
/// cases have are one. Cases that do not fit the model are problems of no node.
base::Result<std::vector<analysis::Problem>> findDivergence(const Document& document,
                                                            const ReferenceComparison& compared,
                                                            const analysis::Tolerances& tolerances,
                                                            exec::Runner& runner, const base::WorkContext& work = {});

}  // namespace sonde::document
