#pragma once

#include <QImage>
#include <QSize>

#include <vector>

#include "core/session/outputs/output_content.h"
#include "ui/widgets/marked_picture.h"

namespace sonde::panels {

/// A content as a picture, in the colours of the theme that is shown now.
struct OutputPicture {
    QImage image;  ///< null: the field is empty
    QSize size;    ///< of the field; empty: the content is no picture
    std::vector<widgets::MarkedPicture::Mark> marks;
};
OutputPicture pictureOf(const session::outputs::Content& content);

}  // namespace sonde::panels
