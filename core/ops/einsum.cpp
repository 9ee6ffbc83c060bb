// Einstein sums: products of tensors, summed over the letters that the result does not have.

#include <algorithm>
#include <map>

#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

/// The equation as lists of labels; an ellipsis stands as labels '0', '1', … counted from the right.
struct Equation {
    std::vector<std::string> inputs;
    std::string output;
};

/// "i...j" for a tensor of rank 4 -> "i10j".
base::Result<std::string> labelsOf(std::string_view term, std::size_t rank, std::size_t& ellipsis) {
    std::string labels;
    std::size_t letters = 0;
    for (char c : term) letters += std::isalpha(static_cast<unsigned char>(c)) ? 1 : 0;
    const std::size_t dots = term.find("...");
    for (std::size_t i = 0; i < term.size(); ++i) {
        if (i == dots) {
            if (rank < letters || rank - letters > 10) return opError("'" + std::string(term) + "' does not fit a tensor of " + std::to_string(rank) + " dimensions");
            for (std::size_t d = rank - letters; d-- > 0;) labels += static_cast<char>('0' + d);
            ellipsis = std::max(ellipsis, rank - letters);
            i += 2;
        } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
            labels += term[i];
        } else {
            return opError("'" + std::string(term) + "' is not a list of letters");
        }
    }
    if (labels.size() != rank) return opError("'" + std::string(term) + "' does not fit a tensor of " + std::to_string(rank) + " dimensions");
    return labels;
}

base::Result<Equation> parse(std::string text, const std::vector<Shape>& shapes) {
    std::erase(text, ' ');
    const std::size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    Equation equation;
    std::size_t ellipsis = 0, start = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const std::size_t comma = left.find(',', start);
        if ((comma == std::string::npos) != (i + 1 == shapes.size())) return opError("equation '" + text + "' does not have " + std::to_string(shapes.size()) + " operands");
        SONDE_ASSIGN(std::string labels, labelsOf(std::string_view(left).substr(start, comma - start), shapes[i].rank(), ellipsis));
        equation.inputs.push_back(std::move(labels));
        start = comma + 1;
    }
    std::string dots;
    for (std::size_t d = ellipsis; d-- > 0;) dots += static_cast<char>('0' + d);
    if (arrow != std::string::npos) {
        std::string right = text.substr(arrow + 2);
        if (const std::size_t at = right.find("..."); at != std::string::npos) right.replace(at, 3, dots);
        equation.output = std::move(right);
    } else {
        // Without a result: the letters that stand once, in alphabetic order.
        std::map<char, int> counts;
        for (const std::string& labels : equation.inputs) {
            for (char c : labels) ++counts[c];
        }
        equation.output = dots;
        for (const auto& [letter, count] : counts) {
            if (count == 1 && std::isalpha(static_cast<unsigned char>(letter))) equation.output += letter;
        }
    }
    return equation;
}

struct Loop {
    std::int64_t extent = 1;
    std::vector<std::int64_t> strides;  ///< by operand
};

base::Result<void> einsum(KernelContext& context) {
    std::vector<Shape> shapes;
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < context.inputCount(); ++i) {
        shapes.push_back(context.in(i).shape());
        SONDE_ASSIGN(Tensor operand, wide(context.in(i)));
        operands.push_back(std::move(operand));
    }
    SONDE_ASSIGN(const Equation equation, parse(context.attributes().getString("equation", ""), shapes));
    std::map<char, Loop> loops;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::vector<std::int64_t> steps = shapes[i].contiguousStrides();
        for (std::size_t d = 0; d < steps.size(); ++d) {
            Loop& loop = loops[equation.inputs[i][d]];
            loop.strides.resize(operands.size(), 0);
            const std::int64_t extent = shapes[i][d];
            if (extent != 1 && loop.extent != 1 && extent != loop.extent) return opError("letter '" + std::string(1, equation.inputs[i][d]) + "' has two extents");
            if (extent != 1) loop.extent = extent;
            if (extent != 1) loop.strides[i] += steps[d];
        }
    }
    std::vector<Loop> outer, inner;
    Shape shape;
    for (char label : equation.output) {
        if (!loops.contains(label)) return opError("letter '" + std::string(1, label) + "' of the result stands in no operand");
        outer.push_back(loops[label]);
        shape.push_back(loops[label].extent);
        loops.erase(label);
    }
    std::int64_t terms = 1;
    for (auto& [label, loop] : loops) {
        inner.push_back(loop);
        if (__builtin_mul_overflow(terms, loop.extent, &terms)) return opError("the sum has too many terms");
    }
    SONDE_ASSIGN(Tensor y, wideZeros(shape));
    const std::size_t n = operands.size();
    const auto place = [&](const std::vector<Loop>& over, std::int64_t index, std::vector<std::int64_t>& offsets) {
        for (std::size_t l = over.size(); l-- > 0;) {
            const std::int64_t at = index % over[l].extent;
            index /= over[l].extent;
            for (std::size_t i = 0; i < n && i < over[l].strides.size(); ++i) offsets[i] += at * over[l].strides[i];
        }
    };
    context.pool().parallelFor(static_cast<std::size_t>(y.numel()), 64, [&](std::size_t begin, std::size_t end) {
        std::vector<std::int64_t> base(n), offsets(n);
        for (std::size_t o = begin; o < end; ++o) {
            std::fill(base.begin(), base.end(), 0);
            place(outer, static_cast<std::int64_t>(o), base);
            double sum = 0;
            for (std::int64_t t = 0; t < terms; ++t) {
                offsets = base;
                place(inner, t, offsets);
                double product = 1;
                for (std::size_t i = 0; i < n; ++i) product *= operands[i].data<double>()[offsets[i]];
                sum += product;
            }
            y.mutableData<double>()[o] = sum;
        }
    });
    return setNarrow(context, 0, y, context.in(0).dtype());
}

base::Result<void> inferEinsum(InferContext& context) {
    std::vector<Shape> shapes;
    std::map<char, tensor::Dim> extents;
    setLike(context, 0, std::nullopt);
    for (std::size_t i = 0; i < context.inputCount(); ++i) {
        if (!context.in(i).shape) return {};
        shapes.push_back(Shape(std::vector<std::int64_t>(context.in(i).shape->size(), 1)));
    }
    SONDE_ASSIGN(const Equation equation, parse(context.attributes().getString("equation", ""), shapes));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        for (std::size_t d = 0; d < shapes[i].rank(); ++d) {
            tensor::Dim& dim = extents[equation.inputs[i][d]];
            const tensor::Dim& own = (*context.in(i).shape)[d];
            if (!dim.known() || dim.value == 1) dim = own;
        }
    }
    Dims dims;
    for (char label : equation.output) dims.push_back(extents[label]);
    setLike(context, 0, std::move(dims));
    return {};
}

}  // namespace

void define_einsum(Registry& registry) {
    registry.add(Row("Einsum", 12, "products summed as an equation of letters says", Category::Layer).variadicIn("Inputs", kNumbers, "T").out("Output")
                     .required("equation", AttributeKind::String).runs(einsum, inferEinsum));
}

}  // namespace sonde::ops
