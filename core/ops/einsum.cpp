// Einstein sums: products of tensors, summed over the letters that the result does not have.

#include "core/ops/support/einsum.h"

#include <map>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

EagerResult einsumOf(Eager& e) {
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < e.count(); ++i) operands.push_back(e.at(i));
    return einsum(e, e.context().attributes().getString("equation", ""), operands);
}

base::Result<void> inferEinsum(InferContext& context) {
    std::vector<Shape> shapes;
    std::map<char, tensor::Dim> dimSizes;
    setLike(context, "Inputs", std::nullopt);
    for (std::size_t i = 0; i < context.inputCount(); ++i) {
        if (!context.in(i).shape) return {};
        shapes.push_back(Shape(std::vector<std::int64_t>(context.in(i).shape->size(), 1)));
    }
    SONDE_ASSIGN(const EinsumEquation equation, parseEinsum(context.attributes().getString("equation", ""), shapes));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        for (std::size_t d = 0; d < shapes[i].rank(); ++d) {
            tensor::Dim& dim = dimSizes[equation.inputs[i][d]];
            const tensor::Dim& own = (*context.in(i).shape)[d];
            if (!dim.known() || dim.value == 1) dim = own;
        }
    }
    Dims dims;
    for (char label : equation.output) dims.push_back(dimSizes[label]);
    setLike(context, "Inputs", std::move(dims));
    return {};
}

}  // namespace

void define_einsum(Registry& registry) {
    registry.add(Row("Einsum", 12, "products summed as an equation of letters says", Category::Layer)
                     .variadicIn("Inputs", kNumbers, "T")
                     .out("Output")
                     .required("equation", AttributeKind::String)
                     .runs(einsumOf, inferEinsum));
    explain("", "Einsum", dependence::einsteinSum);
}

}  // namespace sonde::ops
