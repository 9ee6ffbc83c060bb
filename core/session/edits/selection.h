#pragma once

#include <string>
#include <string_view>

#include "core/expression/expression.h"
#include "core/session/edits/edit.h"
#include "core/tensor/tensor.h"

namespace sonde::session {

/// What is between the brackets of x[0, :, 3:5], as numpy reads it.
class Slice {
  public:
    /// An empty text chooses everything. Error (Usage): no index, with its column in `place`.
    static base::Result<Slice> parse(std::string_view text, EditPlace& place);
    /// Of values that it reads, of masks for example.
    std::vector<std::string> names() const;
    const expression::Expression& expression() const { return m_expression; }
    bool isEverything() const { return m_expression.empty(); }
    /// A column of expression() in the text of the slice; 1 if it is before that.
    static std::size_t columnInside(std::size_t column);
    static std::size_t columnOf(const base::Error& error);  ///< of evaluating expression()

    /// The name that stands for what is indexed.
    static constexpr std::string_view kIndexed = "=";

  private:
    expression::Expression m_expression;
};

/// The elements of a tensor that a slice chooses.
class Selection {
  public:
    /// `tensor`: contiguous, on memory that may be written to; not of strings. `names`: of the values that the slice
    /// reads. Errors (Usage): as expression::evaluate(), with the column in `place`; Cancelled.
    static base::Result<Selection> make(tensor::Tensor tensor, const Slice& slice, const expression::Names& names,
                                        const base::WorkContext& work, EditPlace& place);

    const tensor::Shape& shape() const { return m_chosen.shape(); }
    /// A contiguous copy.
    base::Result<tensor::Tensor> read() const;
    /// Contiguous, of the same dtype and shape.
    void write(const tensor::Tensor& from);

  private:
    tensor::Tensor m_tensor;
    tensor::Tensor m_chosen;  ///< a view of m_tensor; else positions in it (int64)
    bool m_isView = true;
};

}  // namespace sonde::session
