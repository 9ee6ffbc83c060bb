// Files of a folder that an input is given one after the other, without a window.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <memory>

#include "core/io/npz/npy.h"
#include "core/session/input_folder.h"
#include "core/session/session.h"
#include "tests/support/linear_network.h"

namespace tst_input_folder {

using namespace sonde;

class TestInputFolder : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init();
    void namesAreCounted();
    void onlyFilesOfTheKind();
    void aFolderBeginsWithItsFirstFile();
    void whatStandsBehindTheFileStays();
    void foldersWithoutFilesAreRefused();
    void aSessionGoesThroughThem();

  private:
    std::string at(const char* name) const { return m_folder->filePath(QLatin1String(name)).toStdString(); }
    void write(const char* name) const {
        QFile file(m_folder->filePath(QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("x");
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestInputFolder::init() { m_folder = std::make_unique<QTemporaryDir>(); }

void TestInputFolder::namesAreCounted() {
    for (const char* name :
         {"a10.png", "a2.png", "a1.png", "b.png", "a02.png", "a.png", "a1b.png", "a1a20.png", "a1a3.png"})
        write(name);
    const auto folder = session::inputFolder(at("a1.png"));
    QVERIFY(folder);
    QCOMPARE(folder->names, (std::vector<std::string>{"a.png", "a1.png", "a1a3.png", "a1a20.png", "a1b.png", "a02.png",
                                                      "a2.png", "a10.png", "b.png"}));
    QCOMPARE(folder->find(at("a10.png")), std::optional<std::size_t>(7));
    QCOMPARE(folder->find(at("a10.png") + "+noise(0.5)"), std::optional<std::size_t>(7));
    QVERIFY(!folder->find("/elsewhere/a10.png"));
    QCOMPARE(folder->path(8), at("b.png"));
}

void TestInputFolder::onlyFilesOfTheKind() {
    for (const char* name : {"a.png", "b.JPG", "c.npy", "d.npz", "e.wav", "f.txt", "g", "h.npz"}) write(name);
    QVERIFY(QDir(m_folder->path()).mkdir(QStringLiteral("z.png")));
    QCOMPARE(session::inputFolder(at("a.png"))->names, (std::vector<std::string>{"a.png", "b.JPG"}));
    QCOMPARE(session::inputFolder(at("c.npy"))->names, (std::vector<std::string>{"c.npy"}));
    QCOMPARE(session::inputFolder(at("d.npz"))->names, (std::vector<std::string>{"d.npz", "h.npz"}));
}

void TestInputFolder::aFolderBeginsWithItsFirstFile() {
    for (const char* name : {"about.md", "b.npy", "a.npy", "c.png"}) write(name);
    const std::string path = m_folder->path().toStdString();
    for (const std::string& given : {path, path + "/"}) {
        const auto folder = session::inputFolder(given);
        QVERIFY2(folder, folder ? "" : folder.error().text().c_str());
        QCOMPARE(folder->names, (std::vector<std::string>{"a.npy", "b.npy"}));
        QCOMPARE(folder->path(0), at("a.npy"));
    }
}

void TestInputFolder::whatStandsBehindTheFileStays() {
    QCOMPARE(session::withFile("a.wav#16000+noise(0.1,7)", "b.wav"), std::string("b.wav#16000+noise(0.1,7)"));
    QCOMPARE(session::fileOfItem("a.wav#16000+noise(0.1,7)"), std::string("a.wav"));
    QCOMPARE(session::fileOfItem("'text'#vocab.txt"), std::string());
    QCOMPARE(session::fileOfItem("[1,2]"), std::string());
    QCOMPARE(session::fileOfItem("#draw(white|60,1,1)"), std::string());
}

void TestInputFolder::foldersWithoutFilesAreRefused() {
    write("about.md");
    const auto none = session::inputFolder(m_folder->path().toStdString());
    QVERIFY(!none);
    QCOMPARE(none.error().what, std::string("the folder has no file that an input is read from"));
    const auto gone = session::inputFolder(at("gone") + "/x.png");
    QVERIFY(!gone);
    QVERIFY(QString::fromStdString(gone.error().what).startsWith("the folder cannot be listed"));
}

void TestInputFolder::aSessionGoesThroughThem() {
    const std::string model = at("model.onnx");
    test::writeLinearNetwork(model);
    for (int i = 1; i <= 3; ++i) {
        const auto number = static_cast<float>(i);
        const std::string name = std::to_string(i) + ".npy";
        QVERIFY(io::writeNpyFile(at(name.c_str()), tensor::Tensor::of<float>({2, 2}, {number, 0, 0, number})));
    }
    session::Session session;
    QVERIFY(session.open(model));
    session.runs().setLive(true);
    QVERIFY(session.runs().give("x", {at("2.npy"), {}}));
    // s = x + [10, 20]
    const auto first = [&] { return session.runs().last().recording->outputs.front().tensor().toDouble(0); };
    QCOMPARE(first(), 12.0);
    QVERIFY(session::stepInputFile(session, "x", 1));
    QCOMPARE(first(), 13.0);
    const auto beyond = session::stepInputFile(session, "x", 1);
    QVERIFY(!beyond);
    QCOMPARE(beyond.error().what, std::string("that is the last file of the folder"));
    QCOMPARE(first(), 13.0);
    QVERIFY(session::stepInputFile(session, "x", -2));
    QCOMPARE(first(), 11.0);
    QCOMPARE(session::stepInputFile(session, "y", 1).error().what, std::string("the model has no input named y"));
    QVERIFY(session.runs().give("x", {"[[1,2],[3,4]]", {}}));
    QCOMPARE(session::stepInputFile(session, "x", 1).error().what, std::string("the input is not given a file"));
}

QTEST_APPLESS_MAIN(TestInputFolder)

}  // namespace tst_input_folder

#include "tst_input_folder.moc"
