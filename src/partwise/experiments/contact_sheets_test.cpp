#include "partwise/experiments/contact_sheets.h"

#include "partwise/experiments/application_fixture.h"
#include "partwise/images/codec.h"

namespace partwise::experiments {
namespace {

using ContactSheets = Application;

TEST_F(ContactSheets, ShowEveryObjectOfACategoryAndPassOverWhatCannotBeRead) {
  const auto dataset = draw_animals();
  std::filesystem::remove(dataset.root / dataset.images.front().file_name);
  write_contact_sheets(dataset, root_ / "sheets");
  ASSERT_EQ(said().size(), dataset.categories.size());
  EXPECT_NE(said()[0].find("fox.png: 8 of 9 objects; box white"), std::string::npos) << said()[0];
  EXPECT_NE(said()[1].find(": 9 of 9 objects"), std::string::npos) << said()[1];
  const auto sheet = images::read_image(root_ / "sheets" / "fox.png");
  EXPECT_EQ(sheet.width, 6 * 240 + 5 * 6);   // six columns and the gaps between them
  EXPECT_GT(sheet.height, 2 * 240 + 2 * 6);  // two rows, and below them what the colours stand for
}

TEST_F(ContactSheets, OfCategoriesWithNearlyTheSameNameDoNotReplaceEachOther) {
  auto dataset = draw_animals();
  ASSERT_GE(dataset.categories.size(), 2U);
  const char* names[] = {"a.b", "a-b"};
  for (std::size_t i = 0; i < 2; ++i) dataset.categories[i].name = names[i];
  write_contact_sheets(dataset, root_ / "sheets");
  EXPECT_TRUE(std::filesystem::exists(root_ / "sheets" / "a.b.png"));
  EXPECT_TRUE(std::filesystem::exists(root_ / "sheets" / "a-b.png"));
}

}  // namespace
}  // namespace partwise::experiments
