// Two exports of a network of 100,000 nodes are compared in seconds, whatever they name and however they are ordered.

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include <random>

#include "core/document/document.h"
#include "core/session/diff/model_diff.h"
#include "tests/support/onnx_file.h"

namespace tst_diff_size {

using namespace sonde;
using namespace sonde::test::onnxfile;

namespace {

constexpr std::size_t kNodes = 100'000;
/// Generous: a build that is not optimised, on a machine that does other things. A quadratic step takes minutes.
constexpr qint64 kMaxMs = 40'000;

enum class Form { Chain, Residual, Star, Comb };

struct Network {
    Form form = Form::Chain;
    std::string prefix;
    std::size_t every = 0;      ///< each so manieth operation is another one; 0: none
    std::size_t left = 0;       ///< each so manieth is left out; 0: none
    std::size_t operators = 7;  ///< how many kinds there are
    bool isShuffled = false;    ///< independent operations are in another order

    std::string bytes() const {
        static const char* const kOps[] = {"Relu", "Tanh", "Sigmoid", "Exp", "Abs", "Neg", "Sqrt"};
        const std::string x = prefix + "x";
        std::vector<Node> nodes;
        std::string last = x, before = x;
        for (std::size_t i = 0; i < kNodes; ++i) {
            if (left != 0 && i % left == left / 2) continue;
            const bool isOther = every != 0 && i % every == every / 2;
            const std::string name = prefix + std::to_string(i), op = isOther ? "Floor" : kOps[i % operators];
            if (form == Form::Star) nodes.push_back({op, {x}, {name}});
            else if (form == Form::Residual && i % 5 == 4) nodes.push_back({"Add", {last, before}, {name}});
            else nodes.push_back({op, {last}, {name}});
            if (i % 5 == 4) before = name;
            if (form != Form::Comb || i % 2 == 0) last = name;
        }
        std::vector<std::string> outputs{nodes.back().outputs.front()};
        if (form == Form::Star)
            for (std::size_t i = 0; i + 1 < nodes.size(); i += 3) outputs.push_back(nodes[i].outputs.front());
        std::mt19937 engine(7);
        if (isShuffled && form == Form::Star) std::ranges::shuffle(nodes, engine);
        Graph graph{std::move(nodes), {valueInfo(x, 1, {2})}, {}, {}};
        for (const std::string& output : outputs) graph.outputs.push_back(valueInfo(output, 1, {2}));
        return model(graph);
    }
};

}  // namespace

class TestDiffSize : public QObject {
    Q_OBJECT

  private slots:
    void isDoneInSeconds_data();
    void isDoneInSeconds();

  private:
    std::shared_ptr<const document::Document> open(const Network& network, const char* name) {
        const QString path = m_folder.filePath(QLatin1String(name));
        if (!write(path, network.bytes())) qFatal("cannot write");
        const auto document = document::open(path.toStdString(), {});
        if (!document) qFatal("%s", document.error().text().c_str());
        return *document;
    }

    QTemporaryDir m_folder;
};

void TestDiffSize::isDoneInSeconds_data() {
    QTest::addColumn<int>("form");
    QTest::addColumn<int>("every");
    QTest::addColumn<int>("left");
    QTest::addColumn<int>("operators");
    QTest::addColumn<bool>("isShuffled");
    QTest::addColumn<double>("atLeast");
    const auto row = [](const char* name, Form form, int every, int left, int operators, bool isShuffled,
                        double atLeast) {
        QTest::newRow(name) << static_cast<int>(form) << every << left << operators << isShuffled << atLeast;
    };
    row("a chain with other names", Form::Chain, 0, 0, 7, false, 1);
    row("residual, each hundredth another operator", Form::Residual, 100, 0, 7, false, 0.99);
    row("residual, each tenth left out", Form::Residual, 0, 10, 7, false, 0.94);
    row("one operator only, each seventh left out", Form::Chain, 0, 7, 1, false, 0.9);
    row("all from one value", Form::Star, 0, 0, 7, false, 1);
    row("all from one value, in another order", Form::Star, 0, 0, 7, true, 1);
    row("all from one value, each third another operator", Form::Star, 3, 0, 7, false, 0.6);
    // Two of three are interchangeable: whichever is left out, the others have counterparts (2 · 8 / 17 = 0.941).
    row("all from one value, one operator, some left out", Form::Star, 0, 9, 1, true, 0.94);
    row("a comb, each fourth another operator", Form::Comb, 4, 0, 7, false, 0.7);
}

void TestDiffSize::isDoneInSeconds() {
    QFETCH(int, form);
    QFETCH(int, every);
    QFETCH(int, left);
    QFETCH(int, operators);
    QFETCH(bool, isShuffled);
    QFETCH(double, atLeast);
    Network first{static_cast<Form>(form), "a", 0, 0, static_cast<std::size_t>(operators), false};
    Network second = first;
    second.prefix = "b";
    second.every = static_cast<std::size_t>(every);
    second.left = static_cast<std::size_t>(left);
    second.isShuffled = isShuffled;
    const auto a = open(first, "a.onnx"), b = open(second, "b.onnx");
    QElapsedTimer timer;
    timer.start();
    const auto diff = session::modelDiff(*a, *b);
    QVERIFY(diff);
    qInfo("%s: %lld ms, %.4f matched", QTest::currentDataTag(), static_cast<long long>(timer.elapsed()),
          diff->structure.matched());
    QVERIFY2(timer.elapsed() < kMaxMs, qPrintable(QString::number(timer.elapsed())));
    QVERIFY2(diff->structure.matched() >= atLeast, qPrintable(QString::number(diff->structure.matched())));
}

QTEST_APPLESS_MAIN(TestDiffSize)

}  // namespace tst_diff_size

#include "tst_diff_size.moc"
