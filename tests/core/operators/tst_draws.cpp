// Which calls draw numbers, as PyTorch and ONNX document it: dropout with a rate while it trains, and what has some
// inside.

#include <QtTest>

#include <map>
#include <vector>

#include "core/operators/draws.h"

namespace tst_draws {

using namespace sonde;

namespace {

/// An argument that is not known.
constexpr double kUnknown = -1;

}  // namespace

class TestDraws : public QObject {
    Q_OBJECT

  private slots:
    void argumentsTell_data();
    void argumentsTell();
    void namesTellAsWell();
};

void TestDraws::argumentsTell_data() {
    QTest::addColumn<QString>("domain");
    QTest::addColumn<QString>("op");
    QTest::addColumn<QList<double>>("arguments");  // numbers by position; what is no number is 7
    QTest::addColumn<QString>("draws");            // "?": not known
    const auto add = [](const char* name, const char* domain, const char* op, const QList<double>& arguments,
                        const char* draws) { QTest::newRow(name) << domain << op << arguments << draws; };
    add("dropout trains", "aten", "dropout", {7, 0.5, 1}, "yes");
    add("dropout in place", "aten", "dropout_", {7, 0.5, 1}, "yes");
    add("dropout at rest", "aten", "dropout", {7, 0.5, 0}, "no");
    add("dropout of nothing", "aten", "dropout", {7, 0, 1}, "no");
    add("dropout, mode not known", "aten", "feature_dropout", {7, 0.5, kUnknown}, "?");
    add("dropout, rate not known", "aten", "dropout", {7, kUnknown, 1}, "yes");
    add("rrelu", "aten", "rrelu", {7, 0.1, 0.3, 1}, "yes");
    add("rrelu at rest", "aten", "rrelu", {7, 0.1, 0.3}, "no");
    // (input, hx, params, has_biases, num_layers, dropout, train, …)
    add("lstm trains", "aten", "lstm.input", {7, 7, 7, 1, 2, 0.5, 1, 0, 0}, "yes");
    add("gru trains", "aten", "gru.input", {7, 7, 7, 1, 3, 0.1, 1, 0, 0}, "yes");
    add("rnn at rest", "aten", "rnn_tanh.input", {7, 7, 7, 1, 2, 0.5, 0, 0, 0}, "no");
    add("one layer has nothing between", "aten", "lstm.input", {7, 7, 7, 1, 1, 0.5, 1, 0, 0}, "no");
    add("no dropout", "aten", "rnn_relu.input", {7, 7, 7, 1, 2, 0, 1, 0, 0}, "no");
    // (data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, …)
    add("packed sequences", "aten", "lstm.data", {7, 7, 7, 7, 1, 2, 0.5, 1, 0}, "yes");
    add("packed sequences at rest", "aten", "gru.data", {7, 7, 7, 7, 1, 2, 0.5, 0, 0}, "no");
    add("attention", "aten", "scaled_dot_product_attention", {7, 7, 7, 7, 0.1, 0}, "yes");
    add("attention without", "aten", "scaled_dot_product_attention", {7, 7, 7}, "no");
    add("random", "aten", "rand", {7}, "yes");
    add("a sum", "aten", "add.Tensor", {7, 7}, "no");
    add("ONNX dropout trains", "", "Dropout", {7, 0.5, 1}, "yes");
    add("ONNX dropout", "", "Dropout", {7}, "no");
    add("ONNX random", "", "RandomNormal", {}, "yes");
    add("ONNX LSTM", "", "LSTM", {7, 7, 7}, "no");
}

void TestDraws::argumentsTell() {
    QFETCH(const QString, domain);
    QFETCH(const QString, op);
    QFETCH(const QList<double>, arguments);
    QFETCH(const QString, draws);
    const auto numberOf = [&](std::size_t position, std::string_view, double fallback) -> std::optional<double> {
        if (position >= static_cast<std::size_t>(arguments.size())) return fallback;
        const double given = arguments[static_cast<qsizetype>(position)];
        return given == kUnknown ? std::nullopt : std::optional(given);
    };
    const auto found = operators::drawsNumbers(domain.toStdString(), op.toStdString(), numberOf);
    QCOMPARE(!found ? "?" : *found ? "yes" : "no", draws);
}

void TestDraws::namesTellAsWell() {
    std::map<std::string_view, double> keywords{{"p", 0.2}, {"train", 1}};
    const auto numberOf = [&](std::size_t, std::string_view name, double fallback) -> std::optional<double> {
        const auto given = keywords.find(name);
        return given == keywords.end() ? fallback : given->second;
    };
    QCOMPARE(operators::drawsNumbers("aten", "alpha_dropout", numberOf), std::optional(true));
    keywords["train"] = 0;
    QCOMPARE(operators::drawsNumbers("aten", "alpha_dropout", numberOf), std::optional(false));
}

QTEST_APPLESS_MAIN(TestDraws)

}  // namespace tst_draws

#include "tst_draws.moc"
