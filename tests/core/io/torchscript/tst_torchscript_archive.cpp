// TorchScript archives as files: format versions, where weights lie, what shares memory, and what other files of torch
// are.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <thread>

#include "core/document/document.h"
#include "core/document/document_json.h"
#include "core/exec/runner.h"
#include "core/io/torchscript/archive.h"
#include "core/io/torchscript/script_module.h"
#include "core/io/torchscript/source_ranges.h"
#include "core/io/torchscript/state_dict.h"
#include "tests/support/reference_sets.h"
#include "tests/support/script_archive.h"

namespace tst_torchscript_archive {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;
namespace pickle = test::pickle;

namespace {

const std::string kIdentity =
    "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.neg(x)\n";

std::string floats(const std::vector<float>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

/// Whether memory belongs to a mapping of this file.
bool isMapped(const void* address, const std::filesystem::path& file) {
    QFile maps("/proc/self/maps");
    if (!maps.open(QIODevice::ReadOnly)) return false;
    for (const QByteArray& line : maps.readAll().split('\n')) {
        if (!line.endsWith(std::filesystem::canonical(file).string().c_str())) continue;
        const quint64 from = line.split('-').first().toULongLong(nullptr, 16);
        const quint64 to = line.mid(line.indexOf('-') + 1).split(' ').first().toULongLong(nullptr, 16);
        const auto at = reinterpret_cast<quint64>(address);
        if (at >= from && at < to) return true;
    }
    return false;
}

std::shared_ptr<trace::Module> rootOf(const std::filesystem::path& path) {
    const auto archive = io::script::Archive::open(path);
    if (!archive) qWarning("%s", archive.error().text().c_str());
    const auto root =
        archive ? io::script::makeRootModule(*archive) : base::Result<std::shared_ptr<trace::Module>>(archive.error());
    return root ? *root : nullptr;
}

const Tensor& tensorNamed(const trace::Module& root, const std::string& name) {
    for (const trace::NamedTensor& named : trace::namedTensors(root)) {
        if (named.path == name) return named.slot->value;
    }
    static const Tensor none;
    return none;
}

}  // namespace

class TestTorchScriptArchive : public QObject {
    Q_OBJECT

  private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void formatVersions_data() {
        QTest::addColumn<QString>("record");
        QTest::addColumn<int>("version");
        QTest::addColumn<bool>("good");
        for (const char* record : {"version", ".data/version"}) {
            for (int version : {3, 4, 5, 6, 7, 8, 9, 10})
                QTest::addRow("%s %d", record, version) << QString(record) << version << true;
        }
        QTest::newRow("unknown") << "version" << 11 << false;
        QTest::newRow("none") << "other" << 3 << false;
    }
    void formatVersions() {
        QFETCH(QString, record);
        QFETCH(int, version);
        QFETCH(bool, good);
        test::writeRecords(path(), {{record.toStdString(), std::to_string(version) + "\n"},
                                    {"data.pkl", pickle::file(pickle::instance("__torch__", "M", ""))},
                                    {"code/__torch__.py", kIdentity}});
        const auto document = document::open(path());
        QCOMPARE(document.has_value(), good);
        if (!good) QCOMPARE(document.error().exitStatus(), 3);
    }

    /// Sizes and places in 64 bits, as in archives beyond 4 GiB.
    void archivesOf64BitsOpen() {
        const std::string bytes = test::zip64({{"version", "6\n"},
                                               {"data.pkl", pickle::file(pickle::instance("__torch__", "M", ""))},
                                               {"code/__torch__.py", kIdentity}});
        QFile file(QString::fromStdString(path()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes.data(), static_cast<qint64>(bytes.size()));
        file.close();
        const auto document = document::open(path());
        QVERIFY2(document, document ? "" : document.error().text().c_str());
    }

    /// Source files are deflated in archives of torch, weights are stored; both forms are read.
    void deflatedRecordsAreRead() {
        const auto zip = io::ZipArchive::open(
            std::filesystem::path((test::referenceModels() + "/gpt_mini.script.pt").toStdString()));
        QVERIFY(zip);
        std::size_t deflated = 0;
        for (const io::ZipEntry& entry : (*zip)->entries()) {
            if (entry.stored || !entry.name.ends_with(".py")) continue;
            const auto bytes = (*zip)->read(entry);
            QVERIFY(bytes);
            QCOMPARE(bytes->bytes.size(), entry.size);
            ++deflated;
        }
        QVERIFY(deflated > 0);
    }

    /// Weights of archives are used where they lie: nothing of them is copied at opening.
    void storedWeightsAreMapped_data() {
        QTest::addColumn<QString>("archive");
        for (const char* name :
             {"squeezenet1_1.trace.pt", "unet_small.script.pt", "gpt_mini.script.pt", "resnet18.trace.pt"})
            QTest::newRow(name) << QString(name);
    }
    void storedWeightsAreMapped() {
        QFETCH(QString, archive);
        SONDE_NEEDS_SET("models", test::referenceModels() + '/' + archive);
        const std::filesystem::path file = (test::referenceModels() + '/' + archive).toStdString();
        const auto root = rootOf(file);
        QVERIFY(root);
        std::size_t count = 0;
        for (const trace::NamedTensor& named : trace::namedTensors(*root)) {
            if (named.slot->value.numel() == 0) continue;
            QVERIFY2(isMapped(named.slot->value.storage()->data(), file), named.path.c_str());
            ++count;
        }
        QVERIFY(count > 10);
        const auto document = document::open(file.string());
        QVERIFY(document);
        for (std::size_t i = 0; i < (*document)->graph->nodeCount(); ++i) {
            const graph::Node& node = (*document)->graph->node(graph::NodeId(i));
            if (!node.constant || !node.constant->isTensor() || node.constant->tensor().numel() < 64) continue;
            // Indices and what is small are copied when a file is opened: it may change while they are used.
            if (node.constant->tensor().storage()->sizeBytes() <= 4096) continue;
            QVERIFY2(isMapped(node.constant->tensor().storage()->data(), file), node.name.c_str());
        }
    }

    /// Two views of one storage: 0 1 2 3 4 5 as [2,3], its transpose by strides, and a part by offset.
    void viewsShareTheirStorage() {
        const std::string state = pickle::text("a") + pickle::tensor("0", "FloatStorage", 6, 0, {2, 3}, {3, 1}) +
                                  pickle::text("b") + pickle::tensor("0", "FloatStorage", 6, 0, {3, 2}, {1, 3}) +
                                  pickle::text("c") + pickle::tensor("0", "FloatStorage", 6, 4, {2}, {1});
        test::writeScript(
            path(),
            "class M(Module):\n  __parameters__ = []\n  __buffers__ = [\"a\", \"b\", \"c\", ]\n  a : Tensor\n  b : Tensor\n  c : Tensor\n"
            "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    b = self.b\n    c = self.c\n    return torch.add(torch.mul(torch.matmul(b, x), 1), torch.sum(c))\n",
            state, {{"data/0", floats({0, 1, 2, 3, 4, 5})}});
        const auto root = rootOf(path());
        QVERIFY(root);
        const Tensor& a = tensorNamed(*root, "a");
        const Tensor& b = tensorNamed(*root, "b");
        const Tensor& c = tensorNamed(*root, "c");
        QCOMPARE(a.storage().get(), b.storage().get());
        QCOMPARE(a.storage().get(), c.storage().get());
        QVERIFY(!b.isContiguous());
        QCOMPARE(c.toDouble(0), 4.0);
        QCOMPARE(c.toDouble(1), 5.0);
        // b = [[0,3],[1,4],[2,5]]; b·(1,2) = (6,9,12); + 9
        const auto document = document::open(path());
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        const auto plan = exec::Plan::make((*document)->graph, {});
        const exec::Recording recording =
            exec::Runner(1).run(**plan, std::vector<Value>{Value(Tensor::of<float>({2}, std::vector<float>{1, 2}))});
        if (recording.error) QFAIL(recording.error->text().c_str());
        QCOMPARE(recording.outputs[0].tensor().toDouble(0), 15.0);
        QCOMPARE(recording.outputs[0].tensor().toDouble(2), 21.0);
    }

    /// One pickled tensor that is fetched again is one parameter with two names.
    void tiedParametersAreOne() {
        const std::string tensor = pickle::memoized(pickle::tensor("0", "FloatStorage", 2, 0, {2}, {1}), 1);
        test::writeScript(
            path(),
            "class M(Module):\n  __parameters__ = [\"a\", \"b\", ]\n  __buffers__ = []\n  a : Tensor\n  b : Tensor\n"
            "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    a = self.a\n    b = self.b\n    return torch.add(torch.mul(x, a), b)\n",
            pickle::text("a") + tensor + pickle::text("b") + pickle::fromMemo(1), {{"data/0", floats({3, 4})}});
        const auto root = rootOf(path());
        QVERIFY(root);
        const auto tensors = trace::namedTensors(*root);
        QCOMPARE(tensors.size(), 2U);
        QCOMPARE(tensors[0].slot.get(), tensors[1].slot.get());
        const auto document = document::open(path());
        QVERIFY(document);
        std::size_t reads = 0;
        for (graph::ExprId id : (*document)->graph->main().order)
            reads += (*document)->graph->expr(id).kind == graph::ExprKind::GetAttr ? 1 : 0;
        QCOMPARE(reads, 1U);
    }

    void elementTypes_data() {
        QTest::addColumn<QString>("storage");
        QTest::addColumn<int>("dtype");
        QTest::addColumn<int>("bytes");
        using tensor::DType;
        for (const auto& [name, dtype, size] :
             {std::tuple("FloatStorage", DType::Float32, 4), std::tuple("DoubleStorage", DType::Float64, 8),
              std::tuple("HalfStorage", DType::Float16, 2), std::tuple("BFloat16Storage", DType::BFloat16, 2),
              std::tuple("LongStorage", DType::Int64, 8), std::tuple("IntStorage", DType::Int32, 4),
              std::tuple("ShortStorage", DType::Int16, 2), std::tuple("CharStorage", DType::Int8, 1),
              std::tuple("ByteStorage", DType::UInt8, 1), std::tuple("BoolStorage", DType::Bool, 1),
              std::tuple("ComplexFloatStorage", DType::Complex64, 8)}) {
            QTest::newRow(name) << QString(name) << static_cast<int>(dtype) << size;
        }
    }
    void elementTypes() {
        QFETCH(QString, storage);
        QFETCH(int, dtype);
        QFETCH(int, bytes);
        test::writeScript(
            path(),
            "class M(Module):\n  __parameters__ = []\n  __buffers__ = [\"a\", ]\n  a : Tensor\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return x\n",
            pickle::text("a") + pickle::tensor("0", storage.toStdString(), 3, 0, {3}, {1}),
            {{"data/0", std::string(static_cast<std::size_t>(bytes) * 3, '\0')}});
        const auto root = rootOf(path());
        QVERIFY(root);
        QCOMPARE(static_cast<int>(tensorNamed(*root, "a").dtype()), dtype);
        QCOMPARE(tensorNamed(*root, "a").numel(), 3);
    }

    /// A damaged byte of a bool is a bool, not a value that no bool has.
    void boolsAreZeroOrOne() {
        test::writeScript(
            path(),
            "class M(Module):\n  __parameters__ = []\n  __buffers__ = [\"a\", ]\n  a : Tensor\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return x\n",
            pickle::text("a") + pickle::tensor("0", "BoolStorage", 4, 0, {4}, {1}),
            {{"data/0", std::string("\x00\xc0\x01\xff", 4)}});
        const auto root = rootOf(path());
        QVERIFY(root);
        const Tensor a = tensorNamed(*root, "a");
        QCOMPARE(QByteArray(reinterpret_cast<const char*>(a.bytes()), 4), QByteArray("\x00\x01\x01\x01", 4));
    }

    /// A tensor that would reach beyond its storage is refused, not read.
    void tensorsOutsideTheirStorageAreRefused_data() {
        QTest::addColumn<int>("offset");
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("stride");
        QTest::newRow("size") << 0 << 5 << 1;
        QTest::newRow("offset") << 2 << 3 << 1;
        QTest::newRow("stride") << 0 << 3 << 2;
        QTest::newRow("far offset") << 200 << 1 << 1;
    }
    void tensorsOutsideTheirStorageAreRefused() {
        QFETCH(int, offset);
        QFETCH(int, size);
        QFETCH(int, stride);
        test::writeScript(path(), kIdentity,
                          pickle::text("a") + pickle::tensor("0", "FloatStorage", 4, offset, {size}, {stride}),
                          {{"data/0", floats({0, 1, 2, 3})}});
        const auto document = document::open(path());
        QVERIFY(!document);
        QCOMPARE(document.error().exitStatus(), 3);
    }

    void otherFilesOfTorchAreNamed_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("what");
        const std::string module = pickle::instance("own_models", "MLP",
                                                    pickle::text("training") + '\x89' + pickle::text("_modules") +
                                                        pickle::global("collections", "OrderedDict") + ")R");
        const QString folder = m_folder->path();
        const auto zipped = [&](const std::string& data) {
            const std::string file = (folder + "/z.pt").toStdString();
            test::writeRecords(file, {{"data.pkl", pickle::file(data)}, {"version", "3\n"}});
            QFile written(QString::fromStdString(file));
            return written.open(QIODevice::ReadOnly) ? written.readAll() : QByteArray();
        };
        QTest::newRow("pickled model") << zipped(module) << "pickled model";
        QTest::newRow("state dict") << zipped("}(" + pickle::text("w") +
                                              pickle::tensor("0", "FloatStorage", 1, 0, {1}, {1}) + "u")
                                    << "state dict";
        const std::string magic =
            std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15) + "\x80\x02M\xe9\x03.";
        QTest::newRow("legacy pickled model")
            << QByteArray::fromStdString(magic + pickle::file("}") + pickle::file(module)) << "before version 1.6";
    }
    void otherFilesOfTorchAreNamed() {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, what);
        QFile file(QString::fromStdString(path()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
        file.close();
        const auto document = document::open(path());
        QVERIFY(!document);
        QCOMPARE(document.error().exitStatus(), 3);
        QVERIFY2(QString::fromStdString(document.error().what).contains(what), document.error().what.c_str());
        QVERIFY(QString::fromStdString(document.error().hint).contains("traced = torch.jit.trace("));
        QVERIFY(QString::fromStdString(document.error().hint).contains("torch.jit.save(traced, "));
    }

    /// In files from before version 1.6 the id of a storage may hold another one, and so on without end.
    void storagesInStoragesAreHarmless() {
        std::string value = "Nq" + std::string(1, '\0') + "0";
        for (int i = 0; i < 300'000; ++i)
            value += "(" + pickle::text("storage") + pickle::global("torch", "FloatStorage") + pickle::text("k") + "h" +
                     std::string(1, '\0') + pickle::number(1) + "tQq" + std::string(1, '\0') + "0";
        const std::string magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
        QFile file(QString::fromStdString(path()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(magic + "\x80\x02M\xe9\x03." + pickle::file("}") +
                                             pickle::file(value + "N") + pickle::file("]")));
        file.close();
        const auto weights = io::script::readStateDict(path());
        QVERIFY(!weights);
        QCOMPARE(weights.error().exitStatus(), 3);
    }

    /// Both forms of a .debug_pkl: texts by number, and texts in place. Two lines into a text that begins at line 10.
    void sourceRanges_data() {
        QTest::addColumn<QByteArray>("bytes");
        const std::string text = "def f(x):\n    y = x + 1\n    return y\n";
        const std::string range = pickle::number(18) + pickle::number(23);
        const std::string newer = pickle::tuple(
            pickle::text("FORMAT_WITH_STRING_TABLE") +
            pickle::tuple(pickle::text("def f(x):\n") + pickle::text("    y = x + 1\n") +
                          pickle::text("    return y\n") + pickle::text("m.py")) +
            pickle::tuple(pickle::tuple(
                pickle::number(40) +
                pickle::tuple(pickle::tuple("](" + pickle::number(0) + pickle::number(1) + pickle::number(2) + "e" +
                                            pickle::number(3) + pickle::number(10)) +
                              range) +
                pickle::number(1))));
        const std::string older = pickle::tuple(pickle::tuple(
            pickle::number(40) +
            pickle::tuple(pickle::tuple(pickle::text(text) + pickle::text("m.py") + pickle::number(10)) + range)));
        QTest::newRow("table of strings") << QByteArray::fromStdString(pickle::file(newer));
        QTest::newRow("texts in place") << QByteArray::fromStdString(pickle::file(older));
    }
    void sourceRanges() {
        QFETCH(QByteArray, bytes);
        const auto ranges = io::script::SourceRanges::read(
            std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))), "test");
        QVERIFY2(ranges, ranges ? "" : ranges.error().text().c_str());
        QCOMPARE(ranges->size(), 1U);
        QVERIFY(ranges->at(39).file.empty());
        const auto place = ranges->at(50);
        QCOMPARE(QString::fromUtf8(place.file.data(), static_cast<qsizetype>(place.file.size())),
                 QStringLiteral("m.py"));
        QCOMPARE(place.line, 11);
        QCOMPARE(QString::fromUtf8(place.text.data(), static_cast<qsizetype>(place.text.size())),
                 QStringLiteral("x + 1"));
    }

    /// A model whose record of sources is damaged opens all the same: nobody has looked yet. Who looks is told, on any
    /// thread, and sees the archive's own code.
    void damagedSourceRangesAreFindings() {
        test::writeScript(path(), kIdentity, {}, {{"code/__torch__.py.debug_pkl", "\x80\x02junk"}});
        const auto document = document::open(path());
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        QVERIFY((*document)->diagnostics.empty());
        const graph::InternalGraph& graph = *(*document)->graph;
        std::vector<graph::Source> sources;
        for (std::size_t i = 0; i < graph.exprCount(); ++i) {
            const graph::Expr& expr = graph.expr(graph::ExprId(i));
            if (!expr.source.empty()) sources.push_back(expr.source);
        }
        QVERIFY(!sources.empty());
        std::vector<graph::SourcePlace> places(4);
        {
            std::vector<std::jthread> threads;
            for (graph::SourcePlace& place : places) threads.emplace_back([&] { place = sources.front().place(); });
        }
        for (const graph::SourcePlace& place : places) {
            QCOMPARE(place.file, std::string("code/__torch__.py"));
            QVERIFY(place.line > 0);
            QVERIFY2(place.problem.find("the pickle is damaged") != std::string::npos, place.problem.c_str());
        }
        QVERIFY(document::documentJson(**document).find("the pickle is damaged") != std::string::npos);
    }

    /// A cut of a tensor is put together as the source has it: the record is needed while tracing, and what is wrong
    /// with it is found then.
    void damagedSourceRangesThatTracingNeeds() {
        test::writeScript(path(),
                          "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                          "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    return torch.select(x, 0, 1)\n",
                          {}, {{"code/__torch__.py.debug_pkl", "\x80\x02junk"}});
        const auto document = document::open(path());
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        QCOMPARE((*document)->diagnostics.size(), 1U);
        const base::Diagnostic& finding = (*document)->diagnostics.front();
        QVERIFY2(
            finding.what.find("the model's own source cannot be shown: the pickle is damaged") != std::string::npos,
            finding.what.c_str());
        QCOMPARE(finding.where, std::string("code/__torch__.py"));
    }

  private:
    std::string path() const { return m_folder->filePath("m.pt").toStdString(); }
    std::unique_ptr<QTemporaryDir> m_folder = std::make_unique<QTemporaryDir>();
};

QTEST_GUILESS_MAIN(TestTorchScriptArchive)

}  // namespace tst_torchscript_archive

#include "tst_torchscript_archive.moc"
