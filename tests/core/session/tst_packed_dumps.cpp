// Dumps whose values are in blocks of channels, compared with the model that they were made of.

#include <QTemporaryDir>
#include <QtTest>

#include "core/analysis/stored_layouts.h"
#include "core/document/document.h"
#include "core/export/dump.h"
#include "core/export/optimised_cases.h"
#include "core/export/plain_form.h"
#include "core/session/load_and_run/load_and_run.h"

namespace tst_packed_dumps {

using namespace sonde;
using tensor::Tensor;

namespace {

const std::string kModel = SONDE_TEST_DATA "/models/resnet18_slim.onnx";

/// "1 2 3".
QString textOf(const Tensor& tensor) {
    QStringList numbers;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers << QString::number(tensor.toDouble(i));
    return numbers.join(u' ');
}

}  // namespace

class TestPackedDumps : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void blocksAreMerged_data();
    void blocksAreMerged();
    void whatDoesNotFitIsNotMerged();
    void valuesAreComparedInTheLogicalLayout_data();
    void valuesAreComparedInTheLogicalLayout();
    void theLayerWithOtherWeightsIsNamed();

  private:
    std::string path(const char* name) const { return m_folder.filePath(QLatin1String(name)).toStdString(); }
    /// A dump of the model, whose weights of `layer` are doubled if one is named; an empty text, or what went wrong.
    std::string write(const std::string& file, const std::string& layout, const char* layer = nullptr) const {
        auto opened = document::open(kModel);
        if (!opened) return opened.error().text();
        document::Document document = **opened;
        if (layer) {
            auto graph = std::make_shared<graph::InternalGraph>(*document.graph);
            const graph::NodeId weights = graph->expr(graph->node(*document.findNode(layer)).producer).inputs.at(1);
            const graph::Expr& source = graph->expr(graph->node(weights).producer);
            if (!source.isParameter && !graph->node(weights).constant) return "no weights";
            const Tensor before = graph->node(weights).constant->tensor();
            std::vector<float> numbers;
            for (std::int64_t i = 0; i < before.numel(); ++i)
                numbers.push_back(2 * static_cast<float>(before.toDouble(i)));
            graph->setConstant(weights, Tensor::of<float>(before.shape(), numbers));
            document.graph = graph;
        }
        exporting::DumpOptions options;
        if (const auto set = options.inference.set("enable_" + layout, true); !set) return set.error().text();
        const auto dump = exporting::makeDump(document, {"#rand(0,1)"}, options);
        if (!dump) return dump.error().text();
        const auto written = io::dump::writeDump(file, *dump);
        return written ? std::string() : written.error().text();
    }
    /// What load-and-run says of the first difference.
    QString firstDifference(const std::string& dump, const std::string& reference) const {
        session::LoadAndRunTask task;
        auto opened = document::open(dump);
        if (!opened) return QString::fromStdString(opened.error().text());
        task.document = *opened;
        for (const auto& [name, value] :
             {std::pair<std::string, std::string>{"first_difference", reference}, {"iter", "1"}, {"warmup_iter", "0"}})
            if (const auto set = task.options.set(name, value); !set) return QString::fromStdString(set.error().text());
        task.form = exporting::optimisedCases;
        task.plainForm = exporting::plainForm;
        QString found;
        task.tell = [&found](const std::string& line) {
            if (line.find(" difference from ") != std::string::npos) found = QString::fromStdString(line);
        };
        const auto result = session::loadAndRun(task);
        return result ? found : QString::fromStdString(result.error().text());
    }

    QTemporaryDir m_folder;
};

void TestPackedDumps::blocksAreMerged_data() {
    QTest::addColumn<QString>("packing");
    QTest::addColumn<std::vector<std::int64_t>>("shape");
    using Shape = std::vector<std::int64_t>;
    QTest::newRow("nchw4") << "NCHW -> N C/4 H W C%4" << Shape{1, 1, 1, 2, 4};
    QTest::newRow("chwn4") << "NCHW -> C/4 H W N C%4" << Shape{1, 1, 2, 1, 4};
    QTest::newRow("nhwcd4") << "NCHW -> N H C/4 W C%4" << Shape{1, 1, 1, 2, 4};
}

/// Three channels of a row of two: 1 2, 3 4, 5 6. In blocks of four the fourth is padding.
void TestPackedDumps::blocksAreMerged() {
    QFETCH(QString, packing);
    using Dims = std::vector<std::int64_t>;
    QFETCH(Dims, shape);
    const Tensor packed = Tensor::of<float>(tensor::Shape(shape), {1, 3, 5, 0, 2, 4, 6, 0});
    const Tensor plain = Tensor::of<float>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6});
    const auto pair = analysis::inOneLayout(packed, packing.toStdString(), plain, "");
    QVERIFY(pair);
    QCOMPARE(pair->first.shape().text(), std::string("[1,3,1,2]"));
    QCOMPARE(textOf(pair->first), QStringLiteral("1 2 3 4 5 6"));
    QCOMPARE(textOf(pair->second), QStringLiteral("1 2 3 4 5 6"));
    const auto turned = analysis::inOneLayout(plain, "", packed, packing.toStdString());
    QVERIFY(turned);
    QCOMPARE(textOf(turned->second), QStringLiteral("1 2 3 4 5 6"));
    // Two channels in a block of two hold what the first two of four do.
    const Tensor twos = Tensor::of<float>({1, 1, 1, 2, 2}, {1, 3, 2, 4});
    const auto both = analysis::inOneLayout(packed, packing.toStdString(), twos, "NCHW -> N C/2 H W C%2");
    QVERIFY(both);
    QCOMPARE(textOf(both->first), QStringLiteral("1 2 3 4"));
    QCOMPARE(textOf(both->second), QStringLiteral("1 2 3 4"));
}

void TestPackedDumps::whatDoesNotFitIsNotMerged() {
    const Tensor packed = Tensor::of<float>({1, 1, 1, 2, 4}, {1, 3, 5, 0, 2, 4, 6, 0});
    const std::string packing = "NCHW -> N C/4 H W C%4";
    QVERIFY(!analysis::inOneLayout(packed, packing, packed, packing));  // they are alike
    QVERIFY(!analysis::inOneLayout(packed, packing, Tensor::of<float>({1, 3, 1, 1}, {1, 3, 5}), ""));
    QVERIFY(!analysis::inOneLayout(packed, packing, Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6}), ""));
    QVERIFY(!analysis::inOneLayout(packed, "NCHW -> N C/8 H W C%8", Tensor::of<float>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6}),
                                   ""));
    QVERIFY(!analysis::inOneLayout(packed, "nonsense", Tensor::of<float>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6}), ""));
}

void TestPackedDumps::valuesAreComparedInTheLogicalLayout_data() {
    QTest::addColumn<QString>("layout");
    for (const char* layout : {"nchw44", "nchw88", "hwcd4"}) QTest::newRow(layout) << QString::fromLatin1(layout);
}

void TestPackedDumps::valuesAreComparedInTheLogicalLayout() {
    QFETCH(QString, layout);
    QCOMPARE(write(path("packed.dump"), layout.toStdString()), std::string());
    const QString found = firstDifference(path("packed.dump"), kModel);
    QVERIFY2(found.startsWith(QStringLiteral("no difference from resnet18_slim.onnx: ")), qPrintable(found));
    QVERIFY2(found.section(u' ', -3, -3).toInt() >= 20, qPrintable(found));
    QCOMPARE(write(path("other.dump"), "nchw4" + std::string(layout == u"nchw44" ? "" : "4")), std::string());
    const QString other = firstDifference(path("packed.dump"), path("other.dump"));
    QVERIFY2(other.startsWith(QStringLiteral("no difference from other.dump: ")), qPrintable(other));
}

void TestPackedDumps::theLayerWithOtherWeightsIsNamed() {
    QCOMPARE(write(path("wrong.dump"), "nchw88", "layer2.1.conv1:"), std::string());
    const QString found = firstDifference(path("wrong.dump"), kModel);
    QVERIFY2(found.startsWith(QStringLiteral("first difference from resnet18_slim.onnx: ")) &&
                 found.contains(QStringLiteral(" in layer2.1.conv1): max absolute ")),
             qPrintable(found));
}

QTEST_GUILESS_MAIN(TestPackedDumps)

}  // namespace tst_packed_dumps

#include "tst_packed_dumps.moc"
