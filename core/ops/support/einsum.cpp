#include "core/ops/support/einsum.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <map>

#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// "i...j" for a tensor of rank 4 -> "i10j".
base::Result<std::string> labelsOf(std::string_view term, std::size_t rank, std::size_t& ellipsis) {
    std::string labels;
    std::size_t letters = 0;
    for (char c : term) letters += std::isalpha(static_cast<unsigned char>(c)) ? 1 : 0;
    const std::size_t dots = term.find("...");
    for (std::size_t i = 0; i < term.size(); ++i) {
        if (i == dots) {
            if (rank < letters || rank - letters > 10)
                return opError("'" + std::string(term) + "' does not match a tensor of " + std::to_string(rank) +
                               " dimensions");
            for (std::size_t d = rank - letters; d-- > 0;) labels += static_cast<char>('0' + d);
            ellipsis = std::max(ellipsis, rank - letters);
            i += 2;
        } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
            labels += term[i];
        } else {
            return opError("'" + std::string(term) + "' is not a list of letters");
        }
    }
    if (labels.size() != rank)
        return opError("'" + std::string(term) + "' does not match a tensor of " + std::to_string(rank) +
                       " dimensions");
    return labels;
}

}  // namespace

base::Result<EinsumEquation> parseEinsum(std::string text, const std::vector<Shape>& shapes) {
    std::erase(text, ' ');
    const std::size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    EinsumEquation equation;
    std::size_t ellipsis = 0, start = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const std::size_t comma = left.find(',', start);
        if ((comma == std::string::npos) != (i + 1 == shapes.size()))
            return opError("equation '" + text + "' does not have " + std::to_string(shapes.size()) + " operands");
        SONDE_ASSIGN(std::string labels,
                     labelsOf(std::string_view(left).substr(start, comma - start), shapes[i].rank(), ellipsis));
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

namespace {

using DimSizes = std::map<char, std::int64_t>;

/// A tensor with a different label for each of its dimensions, none of which is 1.
struct Operand {
    Tensor x;
    std::string labels;
};

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

/// Those that do or do not stand in another list, in order.
std::string those(const std::string& labels, const std::string& others, bool inOthers) {
    std::string found;
    std::ranges::copy_if(labels, std::back_inserter(found), [&](char label) { return has(others, label) == inOthers; });
    return found;
}

std::int64_t product(const std::string& labels, const DimSizes& dimSizes) {
    std::int64_t count = 1;
    for (char label : labels) {
        if (__builtin_mul_overflow(count, dimSizes.at(label), &count)) return std::numeric_limits<std::int64_t>::max();
    }
    return count;
}

/// A view without dimensions of 1, and with a label's diagonal for each label that stands twice.
Operand distinct(const Tensor& x, const std::string& labels) {
    Operand operand;
    Shape shape;
    std::vector<std::int64_t> strides;
    for (std::size_t d = 0; d < labels.size(); ++d) {
        if (x.dim(d) == 1) continue;
        if (const std::size_t at = operand.labels.find(labels[d]); at != std::string::npos) {
            strides[at] += x.strides()[d];
            continue;
        }
        operand.labels += labels[d];
        shape.push_back(x.dim(d));
        strides.push_back(x.strides()[d]);
    }
    operand.x = Tensor::onStorage(x.dtype(), std::move(shape), std::move(strides), x.storage(), x.offsetElements());
    return operand;
}

Tensor permuted(const Operand& operand, const std::string& order) {
    std::vector<std::size_t> axes;
    for (char label : order) axes.push_back(operand.labels.find(label));
    return operand.x.permuted(axes);
}

/// The operand with one dimension for each group of labels; a view where the groups' dimensions lie side by side.
Tensor grouped(Eager& e, const Operand& operand, const std::vector<std::string>& groups, const DimSizes& dimSizes) {
    std::string order;
    Shape shape;
    for (const std::string& group : groups) {
        order += group;
        shape.push_back(product(group, dimSizes));
    }
    const Tensor x = permuted(operand, order);
    std::vector<std::int64_t> strides;
    std::size_t axis = 0;
    for (const std::string& group : groups) {
        for (std::size_t i = 1; i < group.size(); ++i) {
            if (x.strides()[axis + i - 1] != x.strides()[axis + i] * x.dim(axis + i)) return e.reshape(x, shape);
        }
        axis += group.size();
        strides.push_back(group.empty() ? 1 : x.strides()[axis - 1]);
    }
    return Tensor::onStorage(x.dtype(), shape, strides, x.storage(), x.offsetElements());
}

Shape shapeOf(const std::string& labels, const DimSizes& dimSizes) {
    Shape shape;
    for (char label : labels) shape.push_back(dimSizes.at(label));
    return shape;
}

/// Summed over the labels that nobody else has: the product with a vector of ones.
Operand summed(Eager& e, const Operand& operand, const std::string& kept, const DimSizes& dimSizes) {
    const std::string gone = those(operand.labels, kept, false), rest = those(operand.labels, kept, true);
    if (gone.empty()) return operand;
    const Tensor matrix = grouped(e, operand, {rest, gone}, dimSizes);
    const Tensor ones = e.as(e("ones", std::vector<std::int64_t>{matrix.dim(1), 1}), matrix.dtype());
    return {e.reshape(e("matmul", matrix, ones), shapeOf(rest, dimSizes)), rest};
}

/// The product of two, summed over what both have and nobody else.
Operand contracted(Eager& e, Operand a, Operand b, const std::string& kept, const DimSizes& dimSizes) {
    a = summed(e, a, kept + b.labels, dimSizes);
    b = summed(e, b, kept + a.labels, dimSizes);
    const std::string shared = those(a.labels, b.labels, true);
    const std::string batch = those(shared, kept, true), inner = those(shared, kept, false);
    const std::string left = those(a.labels, b.labels, false), right = those(b.labels, a.labels, false);
    const std::string labels = batch + left + right;
    if (inner.empty()) {
        const Tensor x = grouped(e, a, {batch, left, ""}, dimSizes), y = grouped(e, b, {batch, "", right}, dimSizes);
        return {e.reshape(e("mul.Tensor", x, y), shapeOf(labels, dimSizes)), labels};
    }
    const Tensor x = grouped(e, a, {batch, left, inner}, dimSizes), y = grouped(e, b, {batch, inner, right}, dimSizes);
    return {e.reshape(e("matmul", x, y), shapeOf(labels, dimSizes)), labels};
}

/// Which labels the result or an operand beside these two has.
std::string neededBeside(const std::vector<Operand>& operands, std::size_t a, std::size_t b,
                         const std::string& output) {
    std::string labels = output;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (i != a && i != b) labels += operands[i].labels;
    }
    return labels;
}

struct Pair {
    std::size_t a = 0, b = 1;
};

/// The pair with the smallest result.
Pair nextPair(const std::vector<Operand>& operands, const std::string& output, const DimSizes& dimSizes) {
    Pair best;
    std::int64_t least = -1;
    for (std::size_t a = 0; a < operands.size(); ++a) {
        for (std::size_t b = a + 1; b < operands.size(); ++b) {
            const std::string all = operands[a].labels + those(operands[b].labels, operands[a].labels, false);
            const std::int64_t size = product(those(all, neededBeside(operands, a, b, output), true), dimSizes);
            if (least < 0 || size < least) best = {a, b}, least = size;
        }
    }
    return best;
}

DimSizes dimSizesOf(Eager& e, const EinsumEquation& equation, const std::vector<Tensor>& operands) {
    DimSizes dimSizes;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        for (std::size_t d = 0; d < operands[i].rank(); ++d) {
            const char label = equation.inputs[i][d];
            std::int64_t& dimSize = dimSizes.try_emplace(label, 1).first->second;
            const std::int64_t own = operands[i].dim(d);
            if (own != 1 && dimSize != 1 && own != dimSize)
                e.fail("letter '" + std::string(1, label) + "' has two sizes");
            if (own != 1) dimSize = own;
        }
    }
    for (char label : equation.output) {
        if (!dimSizes.contains(label)) e.fail("letter '" + std::string(1, label) + "' of the result is in no operand");
    }
    return dimSizes;
}

}  // namespace

Tensor einsum(Eager& e, const std::string& text, const std::vector<Tensor>& given) {
    std::vector<Shape> shapes;
    for (const Tensor& x : given) shapes.push_back(x.shape());
    const EinsumEquation equation = e.get(parseEinsum(text, shapes));
    const DimSizes dimSizes = dimSizesOf(e, equation, given);
    const DType dtype = given.front().dtype();
    const bool narrow = dtype == DType::Float16 || dtype == DType::BFloat16;
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < given.size(); ++i) {
        operands.push_back(
            distinct(narrow ? e.as(e.get(given[i].contiguous()), DType::Float32) : given[i], equation.inputs[i]));
    }
    while (operands.size() > 1) {
        const auto [a, b] = nextPair(operands, equation.output, dimSizes);
        const std::string kept = neededBeside(operands, a, b, equation.output);
        operands[a] = contracted(e, operands[a], operands[b], kept, dimSizes);
        operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(b));
    }
    const Operand result = summed(e, operands.front(), equation.output, dimSizes);
    Tensor y =
        e.reshape(permuted(result, those(equation.output, result.labels, true)), shapeOf(equation.output, dimSizes));
    // A result of its own: what only moves elements may still be the operand.
    if (y.storage() == given.front().storage()) y = e.get(y.clone());
    return e.as(y, dtype);
}

}  // namespace sonde::ops
