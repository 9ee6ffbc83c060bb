// Gradients of linear algebra, of convolutions with moved taps and of LSTM with projections: against central
// differences (difference_case.h). Those of PyTorch are in tst_gradient_pytorch.

#include <QtTest>

#include "tests/core/session/gradient/difference_case.h"

namespace tst_gradient_linalg {

using namespace sonde;
using namespace sonde::test::gradients;
using namespace sonde::test::gradients::differences;

namespace {

using Row = std::function<void(const char*, Case)>;

NodeId transposed(SmallNet& net, NodeId a) {
    return onnx(net, "Transpose", 13, {on(a)}, {{"perm", Dims{1, 0}}}).front();
}
/// A + Aᵀ with a diagonal that grows, so that its eigenvalues are apart.
NodeId symmetric(SmallNet& net, NodeId a, std::int64_t n) {
    Tensor diagonal = Tensor::zeros(tensor::DType::Float64, {n, n}).value();
    for (std::int64_t i = 0; i < n; ++i) diagonal.mutableData<double>()[i * n + i] = 4 + 3 * static_cast<double>(i);
    const NodeId sum = onnx(net, "Add", 14, {on(a), on(transposed(net, a))}).front();
    return onnx(net, "Add", 14, {on(sum), Argument::of(Value(diagonal))}).front();
}
/// Each element by a number of its own: the squares of vectors alone always have the sum 1.
NodeId byOwnNumbers(SmallNet& net, NodeId x, Dims dims) {
    return onnx(net, "Mul", 14, {on(x), Argument::of(Value(spread(dims, 5, 0.5, 2)))}).front();
}

/// An operator on a symmetric matrix of three rows.
Case ofSymmetric(const std::string& op, std::vector<Argument> more = {}) {
    return {{{3, 3}}, [=](SmallNet& net, const Nodes& xs) {
                std::vector<Argument> arguments{on(symmetric(net, xs[0], 3))};
                arguments.insert(arguments.end(), more.begin(), more.end());
                return Nodes{net.call({"aten", op, 0}, std::move(arguments)).front()};
            }};
}

/// All factors that an operator gives, weighted.
Case factorsOf(const std::string& op, Dims shape, std::vector<Dims> results, std::vector<Argument> more,
               bool isSymmetric) {
    return {{shape}, [=](SmallNet& net, const Nodes& xs) {
                std::vector<Argument> arguments{on(isSymmetric ? symmetric(net, xs[0], shape[0]) : xs[0])};
                arguments.insert(arguments.end(), more.begin(), more.end());
                const Nodes all = net.call({"aten", op, 0}, std::move(arguments), {}, results.size());
                Nodes used;
                for (std::size_t i = 0; i < all.size(); ++i)
                    if (!results[i].empty()) used.push_back(byOwnNumbers(net, all[i], results[i]));
                return used;
            }};
}

void addMatrices(const Row& row) {
    row("linalg_cholesky", ofSymmetric("linalg_cholesky", {flag(false)}));
    row("linalg_cholesky, upper", ofSymmetric("linalg_cholesky", {flag(true)}));
    row("linalg_eigvalsh", ofSymmetric("linalg_eigvalsh"));
    row("linalg_eigh", factorsOf("linalg_eigh", {3, 3}, {{3}, {3, 3}}, {}, true));
    row("linalg_svd", factorsOf("linalg_svd", {3, 2}, {{3, 2}, {2}, {2, 2}}, {flag(false)}, false));
    row("linalg_svd of more columns", factorsOf("linalg_svd", {2, 3}, {{2, 2}, {2}, {2, 3}}, {flag(false)}, false));
    row("svd", factorsOf("svd", {3, 2}, {{3, 2}, {2}, {2, 2}}, {flag(true), flag(true)}, false));
    row("linalg_qr", factorsOf("linalg_qr", {3, 2}, {{3, 2}, {2, 2}}, {}, false));
    row("linalg_lu", factorsOf("linalg_lu", {3, 3}, {{}, {3, 3}, {3, 3}}, {}, false));
    row("linalg_matrix_exp", aten("linalg_matrix_exp", {{2, 3, 3}}, {}, -0.7, 0.7));
    row("linalg_matrix_power", aten("linalg_matrix_power", {{3, 3}}, {integer(5)}));
    row("linalg_solve", aten("linalg_solve", {{2, 2, 2}, {2, 2, 3}}, {flag(true)}));
    row("linalg_solve from the right", aten("linalg_solve", {{2, 2}, {3, 2}}, {flag(false)}));
    row("linalg_solve of a vector", aten("linalg_solve", {{2, 2}, {2}}, {flag(true)}));
    row("triangular_solve", {{{3, 2}, {3, 3}}, [](SmallNet& net, const Nodes& xs) {
                                 const Nodes all =
                                     net.call({"aten", "triangular_solve", 0},
                                              {on(xs[0]), on(xs[1]), flag(false), flag(true), flag(false)}, {}, 2);
                                 return Nodes{all.front()};
                             }});
    // Only the triangle of a factor counts.
    for (const bool isUpper : {false, true}) {
        row(isUpper ? "cholesky_inverse, upper" : "cholesky_inverse", ofSymmetric("cholesky_inverse", {flag(isUpper)}));
        row(isUpper ? "cholesky_solve, upper" : "cholesky_solve",
            aten("cholesky_solve", {{3, 2}, {3, 3}}, {flag(isUpper)}, 0.5, 1.5));
    }
    row("pinverse", aten("pinverse", {{3, 2}}, {number(1e-15)}));
}

void addLayers(const Row& row) {
    const auto deformed = [](std::vector<Dims> shapes, Attributes attributes) {
        return Case{std::move(shapes),
                    [=](SmallNet& net, const Nodes& xs) {
                        std::vector<Argument> arguments(xs.size());
                        std::transform(xs.begin(), xs.end(), arguments.begin(), on);
                        return onnx(net, "DeformConv", 19, arguments, attributes);
                    },
                    -0.8, 0.9};
    };
    row("DeformConv",
        deformed({{1, 2, 4, 4}, {2, 1, 2, 2}, {1, 8, 3, 3}, {2}, {1, 4, 3, 3}}, {{"group", std::int64_t{2}}}));
    row("DeformConv with sets of offsets",
        deformed({{1, 2, 4, 4}, {2, 2, 2, 2}, {1, 16, 2, 2}}, {{"offset_group", std::int64_t{2}},
                                                               {"strides", Dims{2, 2}},
                                                               {"dilations", Dims{2, 1}},
                                                               {"pads", Dims{1, 0, 1, 0}}}));
    Case layer{{{2, 1, 2}, {2, 1, 1}, {2, 1, 2}, {8, 2}, {8, 1}, {1, 2}}, [](SmallNet& net, const Nodes& xs) {
                   const auto list = [](std::vector<Argument> items) {
                       return Argument::container(Argument::Kind::List, std::move(items));
                   };
                   return net.call({"aten", "lstm.input", 0},
                                   {on(xs[0]), list({on(xs[1]), on(xs[2])}),
                                    list({on(xs[3]), on(xs[4]), on(xs[5]), on(xs[3]), on(xs[4]), on(xs[5])}),
                                    flag(false), integer(1), number(0), flag(false), flag(true), flag(false)},
                                   {}, 3);
               }};
    layer.isFloat32 = true;
    row("lstm with projections, both directions", layer);
}

}  // namespace

class TestGradientLinalg : public QObject {
    Q_OBJECT

  private slots:
    void derivativesAreThoseOfDifferences_data() {
        QTest::addColumn<int>("at");
        const Row row = [&](const char* name, Case one) {
            QTest::addRow("%s", name) << static_cast<int>(m_cases.size());
            m_cases.push_back(std::move(one));
        };
        addMatrices(row);
        addLayers(row);
    }
    void derivativesAreThoseOfDifferences() {
        QFETCH(int, at);
        const QString wrong = wrongDerivative(m_cases[static_cast<std::size_t>(at)]);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }

    /// What has no derivative is named.
    void squareVectorsOfWideMatricesHaveNone() {
        const QString why =
            wrongDerivative(factorsOf("linalg_svd", {3, 2}, {{3, 3}, {2}, {2, 2}}, {flag(true)}, false));
        QVERIFY2(why.contains("complete a square U or V"), qPrintable(why));
    }

  private:
    std::vector<Case> m_cases;
};

QTEST_GUILESS_MAIN(TestGradientLinalg)

}  // namespace tst_gradient_linalg

#include "tst_gradient_linalg.moc"
